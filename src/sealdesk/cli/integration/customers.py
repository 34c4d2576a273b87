"""`sealdesk customers`: customers over the API."""

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

_PATH = f"{ROOT}/customers"
_COLUMNS = Columns(
    {"ID": "id", "E-mail": "email", "Company": "company", "Name": "name"}, ("Company",)
)
_LIST_EXAMPLES = f"""\b
Examples:
  sealdesk customers list --email maria@example.com
  sealdesk customers list --limit 0 --ndjson | jq -r .email

{CREDENTIALS}"""
_CREATE_EXAMPLES = f"""\b
Example:
  sealdesk customers create --email maria@example.com --name 'Maria Santos' \\
      --data '{{"metadata": {{"plan": "pro"}}}}'

{CREDENTIALS}"""
_EXPORT_EXAMPLES = f"""\b
Example:
  sealdesk customers export customers.ndjson

\b
If it is interrupted, the same command continues where it stopped.

{CREDENTIALS}"""

CustomerId = Annotated[str, typer.Argument(metavar="ID", help="The id of the customer.")]
Email = Annotated[str | None, typer.Option(help="The e-mail address.")]
Name = Annotated[str | None, typer.Option(help="The name.")]
Phone = Annotated[str | None, typer.Option(help="The telephone number.")]
Company = Annotated[str | None, typer.Option(help="The company.")]
ExternalId = Annotated[str | None, typer.Option(help="The id in your own system.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask first.")]

cli = command_group("List, read, add, change, erase and export customers.")


@cli.command("list", epilog=_LIST_EXAMPLES)
def list_customers(
    email: Email = None,
    external_id: ExternalId = None,
    filter: Filters = None,
    limit: Limit = 25,
    json: JsonOption = False,
    ndjson: Ndjson = False,
) -> None:
    """List customers, newest first."""
    query = read_filters(filter, email=email, external_id=external_id)
    print_list(_PATH, query, _COLUMNS, limit=limit, json=json, ndjson=ndjson)


@cli.command(epilog=CREDENTIALS)
def get(customer_id: CustomerId, json: JsonOption = False) -> None:
    """Show a customer."""
    print_result(operations.get_customer(customer_id), json=json)


@cli.command(epilog=_CREATE_EXAMPLES)
def create(
    email: Email = None,
    name: Name = None,
    phone: Phone = None,
    company: Company = None,
    external_id: ExternalId = None,
    data: Data = None,
    idempotency_key: IdempotencyKey = None,
    json: JsonOption = False,
) -> None:
    """Add a customer."""
    fields = read_fields(
        data, email=email, name=name, phone=phone, company=company, external_id=external_id
    )
    print_result(operations.create_customer(fields, idempotency_key), json=json)


@cli.command(epilog=CREDENTIALS)
def update(
    customer_id: CustomerId,
    email: Email = None,
    name: Name = None,
    phone: Phone = None,
    company: Company = None,
    external_id: ExternalId = None,
    data: Data = None,
    json: JsonOption = False,
) -> None:
    """Change fields of a customer."""
    fields = read_fields(
        data, email=email, name=name, phone=phone, company=company, external_id=external_id
    )
    print_result(operations.update_customer(customer_id, fields, None), json=json)


@cli.command(epilog=CREDENTIALS)
def erase(customer_id: CustomerId, yes: Yes = False, json: JsonOption = False) -> None:
    """Erase a customer and all texts of their tickets, for good.

    With a key that has customers:erase. Repeated, it shows how far the erasure is.
    """
    if not yes:
        typer.confirm("Erase this customer and all texts of their tickets, for good?", abort=True)
    print_result(operations.erase_customer(customer_id, None), json=json)


@cli.command(epilog=_EXPORT_EXAMPLES)
def export(
    file: exporting.File, filter: Filters = None, restart: exporting.Restart = False
) -> None:
    """Write all customers into a file as NDJSON, newest first."""
    with open_desk(retry=exporting.POLICY) as desk:
        exporting.export(
            desk, _PATH, read_filters(filter), Path(file), noun="customers", restart=restart
        )
