"""`sealdesk mail held` and `sealdesk mail release`: the messages that wait for a person."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from sealdesk.cli.output import JsonOption, print_json, print_table, printable

if TYPE_CHECKING:
    from sealdesk.errors import ProblemType
    from sealdesk.mail.receiving.types import ReceivedMessage
    from sealdesk.settings import Settings

_MOST_LISTED = 1000
_MADE = {
    "ticket": "it has opened the ticket",
    "reply": "it is a reply of the ticket",
    "note": "it is an internal note of the ticket",
    "bounce": "it reports that a message was not delivered, in the ticket",
}

TenantId = Annotated[str, typer.Option("--tenant", metavar="ID", help="The tenant.")]


def held(tenant: TenantId, json: JsonOption = False) -> None:
    """List the e-mails that wait for a person, newest first: held, spam and blocked.

    At most 1,000, of the last 30 days.
    """
    # With the rooms 150 ms to import, which no other command needs.
    from sealdesk import ids
    from sealdesk.cli.installation import open_installation
    from sealdesk.mail.received_messages import store
    from sealdesk.mail.received_messages.release_service import to_response
    from sealdesk.mail.received_messages.types import Filter
    from sealdesk.mail.receiving.contents import RAW_KEPT_US
    from sealdesk.mail.receiving.types import WAITING
    from sealdesk.resources.paging import PageRequest

    with open_installation() as installation:
        installation.get_tenant(tenant)
        since = ids.lowest(installation.clock.now_us() - RAW_KEPT_US)
        wanted, page = Filter(WAITING, None, since), PageRequest(_MOST_LISTED, None)
        found = installation.fetch(tenant, store.list_messages, wanted, page)[:_MOST_LISTED]
    shown = [to_response(message) for message in found]
    if json:
        return print_json(shown)
    columns = ("ID", "OUTCOME", "RECEIVED", "FROM", "SUBJECT", "REASON")
    rows = [
        (m.id, m.outcome, m.received_at, *map(printable, (m.from_address, m.subject, m.reason)))
        for m in shown
    ]
    if not rows:
        print("Nothing waits.")
        return
    print_table(columns, rows)
    if len(found) == _MOST_LISTED:
        print(f"These are the newest {_MOST_LISTED:,}.")


def release(
    message: Annotated[str, typer.Argument(metavar="MESSAGE_ID", help="Of a message that waits.")],
    tenant: TenantId,
) -> None:
    """Make a ticket or a reply of an e-mail that waits. Nobody gets an automatic answer."""
    from sealdesk.cli.installation import open_installation
    from sealdesk.errors import NotFound

    with open_installation() as installation:
        installation.get_tenant(tenant)
        settings = installation.settings
    try:
        released = asyncio.run(_release(settings, tenant, message))
    except NotFound as error:
        raise NotFound(_no_such_message()) from error
    made = _MADE.get(released.outcome, "it is done")
    ticket = f" {released.ticket_id}" if released.ticket_id else ""
    print(f"Released: {made}{ticket}")


def _no_such_message() -> "ProblemType":
    from sealdesk.errors.general import NOT_FOUND

    return NOT_FOUND.variant(
        "There is no such message; sealdesk mail held --tenant ID shows those that wait."
    )


async def _release(settings: "Settings", tenant_id: str, message_id: str) -> "ReceivedMessage":
    from sealdesk.caller import SYSTEM, by_mail
    from sealdesk.cli.installation import opened_state
    from sealdesk.mail.received_messages import release_service

    async with opened_state(settings) as state:
        return await release_service.release_now(state, by_mail(tenant_id, SYSTEM), message_id)
