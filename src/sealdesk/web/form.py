"""Parses form fields (application/x-www-form-urlencoded), from a body or a query string."""

from urllib.parse import parse_qsl

from sealdesk.errors import BadRequest
from sealdesk.errors.requests import FORM_HOLDS_NUL, UNREADABLE_FORM

_MAX_FIELDS = 200


class Form:
    """The fields of a form, in the order in which they were sent."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields

    @property
    def fields(self) -> list[tuple[str, str]]:
        """All fields, as they were sent."""
        return [*self._fields]

    def text(self, name: str) -> str:
        """The first value of a field, "" when it is absent."""
        return next((value for field, value in self._fields if field == name), "")

    def texts(self, name: str) -> list[str]:
        """All values of a field."""
        return [value for field, value in self._fields if field == name]


def parse_form(encoded: bytes) -> Form:
    """Raises BadRequest."""
    try:
        fields = parse_qsl(
            encoded.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:
        raise BadRequest(UNREADABLE_FORM) from None
    if any("\0" in part for field in fields for part in field):
        raise BadRequest(FORM_HOLDS_NUL)
    # Browsers send line ends as CR LF.
    return Form([(name, value.replace("\r\n", "\n")) for name, value in fields])
