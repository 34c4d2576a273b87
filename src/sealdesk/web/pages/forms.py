"""HTML forms: their fields, protection against cross-site requests, and faults by field."""

import hmac
from typing import Any, TypedDict
from urllib.parse import urlsplit

from sealdesk.errors import ApiError, Fault, Forbidden, UnsupportedMediaType, ValidationFailed
from sealdesk.errors.general import FOREIGN_FORM
from sealdesk.errors.requests import NOT_A_FORM
from sealdesk.resources.representation import TOO_LARGE
from sealdesk.web.faults import NULL, WRONG_TYPE
from sealdesk.web.form import Form, parse_form
from sealdesk.web.pages import render
from sealdesk.web.pages.i18n import gettext, gettext_noop, translate
from sealdesk.web.request import Request, Response

_MAX_DIGITS = 9
# The fields of a form are texts, so the only other types are those of `number`.
_IN_FORMS = {
    WRONG_TYPE: gettext_noop("Write a whole number."),
    NULL: gettext_noop("This must not be empty."),
    TOO_LARGE: gettext_noop("That is too long."),
}
TOKEN = "form_token"  # noqa: S105 - the name of a field
_TOKEN_HEADER = b"x-form-token"
MEDIA_TYPE = b"application/x-www-form-urlencoded"
_SAME_SITE = (b"same-origin", b"none")


def read(request: Request) -> Form:
    """The form in the body. Raises BadRequest."""
    return request.form


def read_query(request: Request) -> Form:
    """The query string as a form. Raises BadRequest."""
    return parse_form(request.query)


def check_sender(request: Request) -> None:
    """Raises Forbidden for a form of another site, UnsupportedMediaType for another type."""
    check_site(request)
    declared = request.headers.get(b"content-type", b"")
    if declared.partition(b";")[0].strip().lower() != MEDIA_TYPE:
        raise UnsupportedMediaType(NOT_A_FORM, media_type=MEDIA_TYPE.decode())


def check_site(request: Request) -> None:
    """Raises Forbidden for a request of another site.

    For browsers that do not name the site, the form's token and the cookie's SameSite protect.
    """
    site = request.headers.get(b"sec-fetch-site")
    if site is not None:
        is_ours = site in _SAME_SITE and not request.is_repeated(b"sec-fetch-site")
    else:
        origin = request.headers.get(b"origin")
        is_ours = origin is None or _host(origin) == request.headers.get(b"host", b"").lower()
    if not is_ours:
        raise Forbidden(FOREIGN_FORM)


def check_token(request: Request, token: str) -> None:
    """Raises Forbidden unless the form carries this token."""
    _compare_token(read(request).text(TOKEN), token)


def check_token_header(request: Request, token: str) -> None:
    """Raises Forbidden unless a request whose body is no form has this token in a header."""
    _compare_token(request.headers.get(_TOKEN_HEADER, b"").decode("latin-1"), token)


def _compare_token(sent: str, token: str) -> None:
    if not hmac.compare_digest(sent.encode(), token.encode()):
        raise Forbidden(FOREIGN_FORM)


class Messages(TypedDict):
    """What a form says of an error. faults: by field. wrong: not of one field, "" for nothing."""

    faults: dict[str, str]
    wrong: str


def messages(error: ApiError | None) -> Messages:
    """The messages that a template shows with a form that was refused, if one was."""
    if isinstance(error, ValidationFailed):
        return {"faults": faults_by_field(error), "wrong": ""}
    return {"faults": {}, "wrong": translate(error) if error else ""}


async def show(request: Request, template: str, error: ApiError | None, **values: Any) -> Response:
    """The page of a form, with why it was refused, if it was."""
    status = error.status if error else 200
    return await render.page(request, template, status, **values, **messages(error))


def faults_by_field(refusal: ValidationFailed) -> dict[str, str]:
    """The first fault of each field."""
    faults: dict[str, str] = {}
    for fault in refusal.faults:
        field = fault.pointer.split("/")[1] if fault.pointer else ""
        faults.setdefault(field, message_of(fault))
    return faults


def message_of(fault: Fault) -> str:
    """What a page says of a field: in place of the terms of JSON, those of forms."""
    return gettext(_IN_FORMS[fault.message]) if fault.message in _IN_FORMS else translate(fault)


def split_list(text: str) -> list[str]:
    """The items of a field that has several, with commas between them."""
    return [each.strip() for each in text.split(",") if each.strip()]


def number(text: str) -> int | str | None:
    """The number of a field, None for an empty one; the check of the field refuses other text."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return int(text) if is_number else text or None


def _host(origin: bytes) -> bytes:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return b""
