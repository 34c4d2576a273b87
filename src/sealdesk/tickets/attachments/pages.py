"""Attachments of the ticket page: uploading them from the composer, and their bytes."""

from sealdesk.errors import ApiError, BadRequest
from sealdesk.errors.general import INTERNAL_ERROR
from sealdesk.errors.requests import BODY_TOO_LARGE, INVALID_PARAMETER
from sealdesk.tickets.attachments import actions, errors, receiving, serving
from sealdesk.tickets.attachments.errors import (
    ATTACHMENT_QUOTA_EXCEEDED,
    EMPTY_ATTACHMENT,
    FILE_TYPE_NOT_ALLOWED,
)
from sealdesk.web.operation import page
from sealdesk.web.pages import render
from sealdesk.web.pages.i18n import gettext, translate
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("tickets.attachments", errors)

_EXPLAINED = (ATTACHMENT_QUOTA_EXCEEDED, EMPTY_ATTACHMENT, FILE_TYPE_NOT_ALLOWED)
_MIB = 1024 * 1024
_FRAGMENT = (b"x-fragment", b"file")  # else it is a whole page, such as the log-in


@page
async def upload(request: Request) -> Response:
    """Receive a file that the composer sends; a fragment that names it, or says what is wrong."""
    try:
        stored = await receiving.receive(request, receiving.read_name(request))
    except ApiError as error:
        response = await render.page(
            request, "tickets/upload_failed.html", error.status, reason=_reason(error)
        )
    else:
        response = await render.page(
            request, "tickets/uploaded.html", 201, file=actions.to_ref(stored)
        )
    response.headers.append(_FRAGMENT)
    return response


@page
async def show_content(request: Request, attachment_id: str) -> Response:
    """The bytes of an attachment, for who is logged in."""
    return await serving.serve(request, await serving.find(request, attachment_id))


def _reason(error: ApiError) -> str:
    """What is wrong with the file, in the language of the user."""
    if error.problem_type in _EXPLAINED:
        return translate(error)
    if error.problem_type is BODY_TOO_LARGE:
        text = gettext("A file may have at most %(mib)s MiB.")
        return text % {"mib": error.values["max_bytes"] // _MIB}
    if isinstance(error, BadRequest) and error.code == INVALID_PARAMETER.code:
        return gettext("Rename the file first: its name has characters that are not allowed.")
    return gettext(error.problem_type.page_advice or INTERNAL_ERROR.page_advice)
