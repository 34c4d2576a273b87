"""Settings → E-mail: codes that verify an address."""

from sealdesk.errors import Conflict, TooManyRequests
from sealdesk.mail.mailboxes.pages import show
from sealdesk.mail.verifying import codes
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response


@page
async def send_code(request: Request, mailbox_id: str) -> Response:
    """Send a code to an address that the mailbox waits for."""
    address = forms.read(request).text("address")
    try:
        await codes.send_code(request, mailbox_id, address)
    except (Conflict, TooManyRequests) as error:
        return await show(request, mailbox_id, error)
    return await show(request, mailbox_id, sent_to=address)


@page
async def verify_address(request: Request, mailbox_id: str) -> Response:
    """Give the mailbox an address that it waits for, by the code that was sent there."""
    form = forms.read(request)
    try:
        await codes.verify(request, mailbox_id, form.text("address"), form.text("code"))
    except (Conflict, TooManyRequests) as error:
        return await show(request, mailbox_id, error)
    return render.redirect(request, f"{render.EMAIL_PATH}/{mailbox_id}")
