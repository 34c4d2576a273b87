"""The API of codes that verify an address, for administrators."""

from sealdesk.mail.mailboxes import examples
from sealdesk.mail.mailboxes.api import TAG, respond
from sealdesk.mail.mailboxes.errors import (
    ADDRESS_CODE_NOT_SENT,
    ADDRESS_CODE_REFUSED,
    MAIL_DOMAIN_ASSIGNED,
    MAILBOX_ADDRESS_TAKEN,
    TOO_MANY_ADDRESS_CODES,
)
from sealdesk.mail.mailboxes.types import AddressCode, UnverifiedAddress
from sealdesk.mail.verifying import codes
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.request import Request, Response


@operation(
    "Send a code to an address",
    tag=TAG,
    takes=UnverifiedAddress,
    status=204,
    fails=(
        *(ADDRESS_CODE_NOT_SENT, MAILBOX_ADDRESS_TAKEN),
        *(MAIL_DOMAIN_ASSIGNED, TOO_MANY_ADDRESS_CODES),
    ),
    example=examples.UNVERIFIED_ADDRESS,
)
async def send_code(request: Request, mailbox_id: str) -> Response:
    """Sends a code that verifies one of `unverified_addresses` to it, at most three in a day. The
    code ends after an hour."""
    wanted = body.read(request, UnverifiedAddress)
    await codes.send_code(request, mailbox_id, wanted.address)
    return envelope.nothing()


@operation(
    "Verify an address",
    tag=TAG,
    takes=AddressCode,
    gives=examples.MAILBOX,
    response_headers=("etag",),
    fails=(
        *(ADDRESS_CODE_REFUSED, MAILBOX_ADDRESS_TAKEN),
        *(MAIL_DOMAIN_ASSIGNED, TOO_MANY_ADDRESS_CODES),
    ),
    example=examples.ADDRESS_CODE,
)
async def verify_address(request: Request, mailbox_id: str) -> Response:
    """Gives the mailbox one of `unverified_addresses` by the code that was sent there. Five wrong
    codes are looked at in an hour."""
    given = body.read(request, AddressCode)
    mailbox = await codes.verify(request, mailbox_id, given.address, given.code)
    return respond(mailbox, 200)
