"""The exceptions mirror the error codes of the service."""

from sealdesk.client import error_codes, errors
from sealdesk.client.errors import ApiError, class_of
from sealdesk.routes import ROUTES
from sealdesk.web.openapi.problems import problem_types_of

_EXTERNAL = [row for row in ROUTES if row.path.startswith("/api/v1/external/")]


def test_each_code_of_the_external_api_has_a_class_with_its_status() -> None:
    missing = {
        (each.code, each.status)
        for row in _EXTERNAL
        for each in problem_types_of(row)
        if not _fits(class_of(each.code, each.status), each.code, each.status)
    }
    assert missing == set(), "add a class to sealdesk.client.error_codes"


def _fits(kind: type[ApiError], code: str, status: int) -> bool:
    """Whether the class is the one of the code, and its base the one of the status."""
    if kind.__module__ == error_codes.__name__:
        return kind.code_of_class == code and kind.status_of_class == status
    return kind.__name__ == "".join(word.capitalize() for word in code.split("_"))


def test_an_unknown_code_is_of_the_class_of_its_status() -> None:
    assert class_of("code_of_tomorrow", 404) is errors.NotFound
    assert class_of("code_of_tomorrow", 418) is ApiError
    assert class_of("code_of_tomorrow", 599) is errors.ServerFailed
