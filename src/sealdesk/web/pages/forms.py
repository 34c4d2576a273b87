"""Forms: what was typed, that a page of ours sent it, and what is wrong beside each field."""

import hmac
from urllib.parse import parse_qsl, urlsplit

from sealdesk.errors import BadRequest, Forbidden, UnsupportedMediaType, ValidationFailed
from sealdesk.errors.general import FOREIGN_FORM
from sealdesk.errors.requests import FORM_HOLDS_NUL, NOT_A_FORM, UNREADABLE_FORM
from sealdesk.web.pages.messages import translate
from sealdesk.web.request import Request

TOKEN = "form_token"  # noqa: S105 - the name of a field
_TYPE = b"application/x-www-form-urlencoded"
_MAX_FIELDS = 200
_OURS = (b"same-origin", b"none")


class Form:
    """The fields of a form by name, in the order in which they came."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields

    @property
    def fields(self) -> list[tuple[str, str]]:
        """All of them, as they were sent."""
        return [*self._fields]

    def text(self, name: str) -> str:
        """What stands in a field, "" when it is not there."""
        return next((value for field, value in self._fields if field == name), "")

    def texts(self, name: str) -> list[str]:
        """All that was chosen under one name."""
        return [value for field, value in self._fields if field == name]


def read(request: Request) -> Form:
    """The form that was sent. Raises Malformed."""
    return _parsed(request.body)


def read_query(request: Request) -> Form:
    """What the address says behind its `?`; what no page knows is passed over. Raises Malformed."""
    return _parsed(request.query)


def _parsed(encoded: bytes) -> Form:
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
    # Browsers send the ends of lines as CR LF.
    return Form([(name, value.replace("\r\n", "\n")) for name, value in fields])


def check_sender(request: Request) -> None:
    """Raises Forbidden when a browser says that another site sent the form, WrongType when it is
    none of ours.

    Browsers that do not say it are left to the form's token and the cookie's SameSite.
    """
    site = request.headers.get(b"sec-fetch-site")
    if site is not None:
        is_ours = site in _OURS and not request.is_repeated(b"sec-fetch-site")
    else:
        origin = request.headers.get(b"origin")
        is_ours = origin is None or _host_of(origin) == request.headers.get(b"host", b"").lower()
    if not is_ours:
        raise Forbidden(FOREIGN_FORM)
    declared = request.headers.get(b"content-type", b"")
    if declared.partition(b";")[0].strip().lower() != _TYPE:
        raise UnsupportedMediaType(NOT_A_FORM, media_type=_TYPE.decode())


def check_token(request: Request, token: str) -> None:
    """Raises Forbidden unless the form carries this token."""
    sent = read(request).text(TOKEN)
    if not hmac.compare_digest(sent.encode(), token.encode()):
        raise Forbidden(FOREIGN_FORM)


def faults_by_field(refusal: ValidationFailed) -> dict[str, str]:
    """What is wrong, by the name of the field; of several faults the first."""
    faults: dict[str, str] = {}
    for fault in refusal.faults:
        field = fault.pointer.split("/")[1] if fault.pointer else ""
        faults.setdefault(field, translate(fault))
    return faults


def _host_of(origin: bytes) -> bytes:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return b""
