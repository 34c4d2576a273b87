"""`sealdesk mail held` and `sealdesk mail release`: the messages that wait for a person."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from sealdesk.cli.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from sealdesk.mail.receiving.types import ReceivedMessage
    from sealdesk.settings import Settings

_MOST_LISTED = 1000

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
    from sealdesk.mail.receiving.rules import RAW_KEPT_US
    from sealdesk.mail.receiving.types import WAITING
    from sealdesk.resources.paging import PageRequest

    with open_installation() as installation:
        installation.get_tenant(tenant)
        since = ids.lowest(installation.clock.now_us() - RAW_KEPT_US)
        wanted, page = Filter(WAITING, None, since), PageRequest(_MOST_LISTED, None)
        found = installation.read(lambda tx: store.list_messages(tx, tenant, wanted, page), tenant)[
            :_MOST_LISTED
        ]
    shown = [to_response(message) for message in found]
    if json:
        return print_json(shown)
    columns = ("ID", "OUTCOME", "FROM", "SUBJECT", "RECEIVED")
    rows = [(m.id, m.outcome, m.from_address, m.subject, m.received_at) for m in shown]
    print_table(columns, rows)


def release(
    message: Annotated[str, typer.Argument(metavar="MESSAGE_ID", help="Of a message that waits.")],
    tenant: TenantId,
) -> None:
    """Make a ticket or a reply of an e-mail that waits. Nobody gets an automatic answer."""
    from sealdesk.cli import installation

    settings = installation.prepare_settings()
    released = asyncio.run(_release(settings, tenant, message))
    made = f", which belongs to the ticket {released.ticket_id}" if released.ticket_id else ""
    print(f"Released {message}: {released.outcome}{made}")


async def _release(settings: "Settings", tenant_id: str, message_id: str) -> "ReceivedMessage":
    from sealdesk.caller import SYSTEM, Caller
    from sealdesk.clock import Clock
    from sealdesk.db.factory import open_database
    from sealdesk.mail.received_messages import release_service
    from sealdesk.state import make_state

    state = make_state(settings, open_database(settings, name="sealdesk command"), Clock())
    try:
        caller = Caller(tenant_id, SYSTEM, frozenset(), "", has_custom_fields=False)
        return await release_service.release_now(state, caller, message_id)
    finally:
        await state.database.close()
