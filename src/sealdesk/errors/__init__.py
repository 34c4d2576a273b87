"""Exceptions that become problem documents (RFC 9457): one class for each HTTP status.

The problem type of an exception has its error code. The types that several rooms raise are in
`requests` and `general`; a room declares its own in its `errors` module.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sealdesk.errors import general
from sealdesk.errors.problem_type import ProblemType, declared_in, gettext_noop

__all__ = ["ProblemType", "declared_in", "gettext_noop"]

T = TypeVar("T")


class ConfigurationError(Exception):
    """The configuration cannot be used. Its text says in one line what to do."""


class ApiError(Exception):
    """An error whose response is a problem document.

    values: fill the templates of the problem type. The API formats them in
    English, pages in the language of the user.
    """

    status = 0

    def __init__(self, problem_type: ProblemType, /, **values: Any) -> None:
        super().__init__(problem_type.code, values)
        self.problem_type = problem_type
        self.status = problem_type.status
        self.values = values

    def __str__(self) -> str:
        return self.detail

    @property
    def code(self) -> str:
        return self.problem_type.code

    @property
    def message(self) -> str:
        """The template of `detail`, which is also the key of its translations."""
        return self.problem_type.message

    @property
    def detail(self) -> str:
        """The message in English."""
        return self.problem_type.detail(self.values)

    @property
    def members(self) -> dict[str, Any]:
        """The extension members of the problem document."""
        return self.problem_type.members_of(self.values)

    @property
    def headers(self) -> list[tuple[str, str]]:
        templates = self.problem_type.headers.items()
        return [(name, template % self.values) for name, template in templates]


class BadRequest(ApiError):
    """400: the request cannot be read."""

    status = 400


class Unauthorized(ApiError):
    """401: the caller is not authenticated."""

    status = 401


class Forbidden(ApiError):
    """403: the caller is authenticated and not allowed to do this."""

    status = 403


class NotFound(ApiError):
    """404: it does not exist, or belongs to another tenant."""

    status = 404

    def __init__(self, problem_type: ProblemType = general.NOT_FOUND, /, **values: Any) -> None:
        super().__init__(problem_type, **values)


class MethodNotAllowed(ApiError):
    """405: the path does not have this method."""

    status = 405


class RequestTimeout(ApiError):
    """408: the rest of the request did not arrive in time."""

    status = 408


class Conflict(ApiError):
    """409: the request contradicts what is stored."""

    status = 409


class Gone(ApiError):
    """410: retention has deleted the requested data."""

    status = 410


class PreconditionFailed(ApiError):
    """412: the resource has changed since the caller read it."""

    status = 412


class ContentTooLarge(ApiError):
    """413: the body is over the limit."""

    status = 413


class UnsupportedMediaType(ApiError):
    """415: the body's type or encoding is not supported."""

    status = 415


class Fault(NamedTuple):
    """One invalid field of a body: an item of `errors` in a 422.

    message: a template with named values, as in a problem type.
    """

    pointer: str
    code: str
    message: str
    values: Mapping[str, Any] = {}

    @property
    def detail(self) -> str:
        """The message in English."""
        return self.message % self.values


class ValidationFailed(ApiError):
    """422: the request can be parsed, but breaks a rule."""

    status = 422

    @property
    def faults(self) -> Sequence[Fault]:
        """Every fault of the body."""
        faults: Sequence[Fault] = self.values.get("faults", ())
        return faults

    @property
    def members(self) -> dict[str, Any]:
        if not self.faults:
            return {}
        return {
            "errors": [
                {"in": "body", "pointer": f.pointer, "code": f.code, "message": f.detail}
                for f in self.faults
            ]
        }


class TooManyRequests(ApiError):
    """429: the caller has reached a limit."""

    status = 429


class HeadersTooLarge(ApiError):
    """431: the headers are over the limit."""

    status = 431


class InternalError(ApiError):
    """500: the service failed."""

    status = 500

    def __init__(self) -> None:
        super().__init__(general.INTERNAL_ERROR)


class UnknownTransferCoding(ApiError):
    """501: the body is sent in a way that the server does not know."""

    status = 501


class ServiceUnavailable(ApiError):
    """503: the request is valid and may succeed later.

    is_mistake: a statement or the schema is wrong, so the same work fails again until an update.
    """

    status = 503
    is_mistake = False

    def __init__(
        self, problem_type: ProblemType = general.STORAGE_UNAVAILABLE, /, **values: Any
    ) -> None:
        super().__init__(problem_type, **values)


class QueryTooSlow(ServiceUnavailable):
    """503: a query was cancelled because it took too long."""

    def __init__(
        self, problem_type: ProblemType = general.TOO_MANY_SLOW_QUERIES, /, **values: Any
    ) -> None:
        super().__init__(problem_type, **values)


def invalid(faults: Sequence[Fault]) -> ValidationFailed:
    """The 422 that names all faults of a body."""
    if len(faults) == 1:
        return ValidationFailed(general.VALIDATION_FAILED, faults=faults)
    return ValidationFailed(general.SEVERAL_FIELDS_FAILED, faults=faults, count=len(faults))


def raise_any(faults: Sequence[Fault]) -> None:
    """Raises ValidationFailed if there are faults."""
    if faults:
        raise invalid(faults)


def must_exist(value: T | None) -> T:
    """What was looked for. Raises NotFound for None."""
    if value is None:
        raise NotFound
    return value
