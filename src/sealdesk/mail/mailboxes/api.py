"""The API of mailboxes, for administrators."""

from sealdesk.mail.mailboxes import actions, examples, mailbox_service, rules
from sealdesk.mail.mailboxes.errors import (
    ADDRESS_UNVERIFIED,
    MAIL_DOMAIN_ASSIGNED,
    MAILBOX_ADDRESS_TAKEN,
    TOO_MANY_MAILBOX_TESTS,
    TOO_MANY_MAILBOXES,
)
from sealdesk.mail.mailboxes.store import directory, mailboxes
from sealdesk.mail.mailboxes.types import (
    FormerAddress,
    Mailbox,
    MailboxChange,
    MailboxResponse,
    NewMailbox,
)
from sealdesk.web import body, conditional, envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, list_all
from sealdesk.web.request import Header, Request, Response

TAG = "Mailboxes"


@operation("List mailboxes", tag=TAG, gives=examples.MAILBOX, is_list=True, params=PAGING)
async def list_mailboxes(request: Request) -> Response:
    """Newest first. Never shows a password."""
    return await list_all(request, mailboxes.list_mailboxes, rules.to_response)


@operation(
    "Create a mailbox",
    tag=TAG,
    takes=NewMailbox,
    gives=examples.MAILBOX,
    status=201,
    response_headers=("location", "etag"),
    fails=(TOO_MANY_MAILBOXES, MAILBOX_ADDRESS_TAKEN, MAIL_DOMAIN_ASSIGNED),
    example=examples.NEW_MAILBOX,
)
async def create_mailbox(request: Request) -> Response:
    """Connects to nothing yet: test the mailbox afterwards. Passwords are stored encrypted and are
    never shown. Where several desks share an installation, a mailbox stays paused until its address
    is verified; see `unverified_addresses`."""
    new = body.read(request, NewMailbox)

    mailbox = await request.act(
        actions.create_mailbox, new, key_ring=request.state.key_ring, now_us=request.now_us
    )
    return respond(mailbox, 201, envelope.location(request, mailbox.id))


@operation(
    "Get a mailbox",
    tag=TAG,
    gives=examples.MAILBOX,
    response_headers=("etag",),
)
async def get_mailbox(request: Request, mailbox_id: str) -> Response:
    """One mailbox with what is wrong with it, without its passwords. The ETag is that of the
    settings."""
    mailbox = await request.fetch(actions.get_mailbox, mailbox_id)
    return respond(mailbox, 200)


@operation(
    "Change a mailbox",
    tag=TAG,
    takes=MailboxChange,
    gives=examples.MAILBOX,
    headers=("if-match",),
    response_headers=("etag",),
    fails=(MAILBOX_ADDRESS_TAKEN, MAIL_DOMAIN_ASSIGNED, ADDRESS_UNVERIFIED),
    example=examples.MAILBOX_CHANGE,
)
async def change_mailbox(request: Request, mailbox_id: str) -> Response:
    """A JSON Merge Patch. A new host, port or security needs the password again. `is_paused: true`
    stops receiving and sending; nothing is lost meanwhile."""
    change = await body.read_change(request, MailboxChange, lambda: _show(request, mailbox_id))
    if_match = conditional.if_match(request)

    mailbox = await request.act(
        actions.change_mailbox,
        mailbox_id,
        change,
        key_ring=request.state.key_ring,
        if_match=if_match,
        now_us=request.now_us,
    )
    return respond(mailbox, 200)


@operation("Delete a mailbox", tag=TAG, status=204, headers=("if-match",))
async def delete_mailbox(request: Request, mailbox_id: str) -> Response:
    """Deletes its passwords. Another mailbox of this desk may then have its address; other desks
    when it is freed."""
    if_match = conditional.if_match(request)
    await request.act(actions.delete_mailbox, mailbox_id, if_match=if_match, now_us=request.now_us)
    return envelope.nothing()


@operation(
    "List former addresses", tag=TAG, gives=examples.FORMER_ADDRESS, is_list=True, params=PAGING
)
async def list_former_addresses(request: Request) -> Response:
    """Addresses that mailboxes of this desk had, by address. No other desk gets them until they are
    freed."""
    return await list_all(request, directory.list_former, FormerAddress, lambda each: [each])


@operation("Free a former address", tag=TAG, status=204)
async def free_address(request: Request, address: str) -> Response:
    """Another desk may then have it, and get what is still sent to it. The address in the path is
    percent-encoded: `sales%40acme.test`."""
    address = query.read_segment(address)

    await request.act(actions.free_address, address, now_us=request.now_us)
    return envelope.nothing()


@operation("Test a mailbox", tag=TAG, gives=examples.TEST, fails=(TOO_MANY_MAILBOX_TESTS,))
async def test_mailbox(request: Request, mailbox_id: str) -> Response:
    """Connects, logs in, opens the folder, sends a message to the mailbox itself and waits up to
    30 seconds until it arrives. Each other step takes 10 seconds at most, so allow two minutes.
    The status is 200 even if a step failed; see `is_working`."""
    return envelope.one(await mailbox_service.test_connection(request, mailbox_id))


async def _show(request: Request, mailbox_id: str) -> MailboxResponse:
    return rules.to_response(await request.fetch(actions.get_mailbox, mailbox_id))


def respond(mailbox: Mailbox, status: int, *headers: Header) -> Response:
    """A mailbox with its ETag."""
    return envelope.one(
        rules.to_response(mailbox), status, [*headers, envelope.etag(rules.etag(mailbox))]
    )
