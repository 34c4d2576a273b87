"""`sealdesk replies`: the replies of a ticket over the API."""

from pathlib import Path
from typing import Annotated

import typer

from sealdesk.cli.command_group import command_group
from sealdesk.cli.integration import CREDENTIALS
from sealdesk.cli.integration import export as exporting
from sealdesk.cli.integration.desk import open_desk
from sealdesk.cli.integration.options import (
    Data,
    Filters,
    IdempotencyKey,
    Limit,
    Ndjson,
    print_list,
    print_result,
    read_fields,
    read_filters,
)
from sealdesk.cli.integration.tables import Columns
from sealdesk.cli.output import JsonOption
from sealdesk.client import operations

_COLUMNS = Columns(
    {
        "Written": "created_at",
        "Author": "author.type",
        "Name": "author.name",
        "Internal": "is_internal",
        "Text": "body",
    },
    optional=("Name",),
)
_EXAMPLES = f"""\b
Examples:
  sealdesk replies create TICKET_ID --body 'We send a new one.'
  sealdesk replies create TICKET_ID --internal --body 'Second time this month.'
  sealdesk replies create TICKET_ID --data @reply.json

{CREDENTIALS}"""

TicketId = Annotated[str, typer.Argument(metavar="TICKET_ID", help="The id of the ticket.")]
cli = command_group("List, write and export replies of a ticket.")


@cli.command("list", epilog=CREDENTIALS)
def list_replies(
    ticket_id: TicketId,
    filter: Filters = None,
    limit: Limit = 25,
    json: JsonOption = False,
    ndjson: Ndjson = False,
) -> None:
    """List the replies and notes of a ticket, newest first."""
    path, query = operations.replies_path(ticket_id), read_filters(filter)
    print_list(path, query, _COLUMNS, limit=limit, json=json, ndjson=ndjson)


@cli.command(epilog=_EXAMPLES)
def create(
    ticket_id: TicketId,
    body: Annotated[str | None, typer.Option(help="The text, as Markdown.")] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="A note that the customer must not see.")
    ] = False,
    data: Data = None,
    idempotency_key: IdempotencyKey = None,
    json: JsonOption = False,
) -> None:
    """Write a reply."""
    fields = read_fields(data, body=body, is_internal=internal or None)
    print_result(operations.create_reply(ticket_id, fields, idempotency_key), json=json)


@cli.command(epilog=CREDENTIALS)
def export(
    ticket_id: TicketId,
    file: exporting.File,
    filter: Filters = None,
    restart: exporting.Restart = False,
) -> None:
    """Write all replies of a ticket into a file as NDJSON."""
    path, query = operations.replies_path(ticket_id), read_filters(filter)
    with open_desk(retry=exporting.POLICY) as desk:
        exporting.export(desk, path, query, Path(file), noun="replies", restart=restart)
