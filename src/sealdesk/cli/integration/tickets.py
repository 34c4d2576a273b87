"""`sealdesk tickets`: tickets over the API."""

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
from sealdesk.client.targets import ROOT

_PATH = f"{ROOT}/tickets"
_COLUMNS = Columns(
    {
        "Number": "number",
        "ID": "id",
        "Status": "status",
        "Priority": "priority",
        "Customer": "customer.email",
        "Subject": "subject",
    },
    optional=("Customer", "Priority"),
)
_LIST_EXAMPLES = f"""\b
Examples:
  sealdesk tickets list --status open,pending --tag refund
  sealdesk tickets list --limit 0 --ndjson | jq -r .subject
  sealdesk tickets list -f updated_after=2026-03-01T00:00:00Z -f sort_by=updated_at

{CREDENTIALS}"""
_CREATE_EXAMPLES = f"""\b
Examples:
  sealdesk tickets create --subject 'Broken bowl' --description 'It has a crack.' \\
      --customer-email maria@example.com --priority high --tag refund
  sealdesk tickets create --data @ticket.json

{CREDENTIALS}"""
_UPDATE_EXAMPLES = f"""\b
Examples:
  sealdesk tickets update ID --status resolved
  sealdesk tickets update ID --data '{{"assignee_id": null, "custom_fields": {{"carrier": "DHL"}}}}'

{CREDENTIALS}"""
_EXPORT_EXAMPLES = f"""\b
Examples:
  sealdesk tickets export tickets.ndjson
  sealdesk tickets export open.ndjson --status open,pending

\b
If it is interrupted, the same command continues where it stopped.

{CREDENTIALS}"""

TicketId = Annotated[str, typer.Argument(metavar="ID", help="The id of the ticket.")]
Status = Annotated[str | None, typer.Option(help="open, pending, on_hold, resolved or closed.")]
Statuses = Annotated[
    str | None, typer.Option("--status", help="Only these statuses, separated by commas.")
]
Priorities = Annotated[
    str | None, typer.Option("--priority", help="Only these priorities, separated by commas.")
]
Tag = Annotated[
    list[str] | None,
    typer.Option(help="Only tickets with this tag; repeat for those with all of several."),
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; repeat for several.")]
Priority = Annotated[str | None, typer.Option(help="low, medium, high or urgent.")]
Subject = Annotated[str | None, typer.Option(help="What it is about, 1 to 255 characters.")]
Description = Annotated[str | None, typer.Option(help="The first message, as Markdown.")]

cli = command_group("List, read, open, change and export tickets.")


@cli.command("list", epilog=_LIST_EXAMPLES)
def list_tickets(
    status: Statuses = None,
    priority: Priorities = None,
    tag: Tag = None,
    filter: Filters = None,
    limit: Limit = 25,
    json: JsonOption = False,
    ndjson: Ndjson = False,
) -> None:
    """List tickets, newest first."""
    query = read_filters(filter, status=status, priority=priority, tag=tag)
    print_list(_PATH, query, _COLUMNS, limit=limit, json=json, ndjson=ndjson)


@cli.command(epilog=CREDENTIALS)
def get(ticket_id: TicketId, json: JsonOption = False) -> None:
    """Show a ticket."""
    print_result(operations.get_ticket(ticket_id, html=False), json=json)


@cli.command(epilog=_CREATE_EXAMPLES)
def create(
    subject: Subject = None,
    description: Description = None,
    customer_email: Annotated[
        str | None, typer.Option(help="The customer, found by e-mail address or added.")
    ] = None,
    customer_name: Annotated[
        str | None, typer.Option(help="Their name, if none is known yet.")
    ] = None,
    priority: Priority = None,
    tag: Tags = None,
    data: Data = None,
    idempotency_key: IdempotencyKey = None,
    json: JsonOption = False,
) -> None:
    """Open a ticket."""
    customer = {"email": customer_email, "name": customer_name} if customer_email else None
    fields = read_fields(
        data,
        subject=subject,
        description=description,
        customer=customer,
        priority=priority,
        tags=tag or None,
    )
    print_result(operations.create_ticket(fields, idempotency_key), json=json)


@cli.command(epilog=_UPDATE_EXAMPLES)
def update(
    ticket_id: TicketId,
    status: Status = None,
    priority: Priority = None,
    subject: Subject = None,
    tag: Tags = None,
    data: Data = None,
    json: JsonOption = False,
) -> None:
    """Change fields of a ticket. Tags are replaced by the given ones."""
    fields = read_fields(data, status=status, priority=priority, subject=subject, tags=tag or None)
    print_result(operations.update_ticket(ticket_id, fields, None), json=json)


@cli.command(epilog=_EXPORT_EXAMPLES)
def export(
    file: exporting.File,
    status: Statuses = None,
    priority: Priorities = None,
    tag: Tag = None,
    filter: Filters = None,
    restart: exporting.Restart = False,
) -> None:
    """Write all tickets into a file as NDJSON, newest first.

    Contains every ticket that existed at the start, whatever is added meanwhile.
    """
    query = read_filters(filter, status=status, priority=priority, tag=tag)
    with open_desk(retry=exporting.POLICY) as desk:
        exporting.export(desk, _PATH, query, Path(file), noun="tickets", restart=restart)
