"""Options that the commands of several resources have, and what they mean in a request."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

import msgspec
import typer

from sealdesk.cli.integration.desk import open_desk
from sealdesk.cli.integration.signed_requests import read_body
from sealdesk.cli.integration.tables import Columns, print_row, print_rows
from sealdesk.client import operations
from sealdesk.client.operation import PAGE_ROWS, Operation
from sealdesk.errors import ConfigurationError

Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        "-f",
        metavar="NAME=VALUE",
        help="Any other filter of the list, such as updated_after=2026-03-01T00:00:00Z; repeat for"
        " several.",
    ),
]
Limit = Annotated[int, typer.Option(min=0, help="The most rows to print; 0 prints all.")]
Ndjson = Annotated[
    bool, typer.Option("--ndjson", help="Print one JSON object per line, while they arrive.")
]
Data = Annotated[
    str | None,
    typer.Option(
        "--data", "-d", help="Further fields as JSON; @FILE reads a file, @- reads stdin."
    ),
]
IdempotencyKey = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help="Repeating the command with the same key within 24 hours does nothing twice."
        " [default: a new one]",
    ),
]


def read_filters(texts: Sequence[str] | None, **named: Any) -> dict[str, Any]:
    """Return the query of a list. Raises ConfigurationError."""
    query = {name: value for name, value in named.items() if value}
    for text in texts or ():
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise ConfigurationError(f"--filter must have the form NAME=VALUE, not {text!r}")
        query[name] = value
    return query


def read_fields(data: str | None, **named: Any) -> dict[str, Any]:
    """Return the fields of a body: those of --data and the options. Raises ConfigurationError."""
    fields: Any = {}
    if data is not None:
        try:
            fields = msgspec.json.decode(read_body(data))
        except msgspec.DecodeError as error:
            raise ConfigurationError(f"--data is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ConfigurationError('--data must be a JSON object, such as {"status": "open"}')
    fields |= {name: value for name, value in named.items() if value is not None}
    if not fields:
        raise ConfigurationError("no field is given: use the options, or --data")
    return fields


def print_list(
    path: str,
    query: Mapping[str, Any],
    columns: Columns,
    *,
    limit: int,
    json: bool,
    ndjson: bool,
) -> None:
    """Print the first rows of a list."""
    size = {"per_page": limit} if 0 < limit < PAGE_ROWS else {}
    with open_desk() as desk:
        rows = (bytes(row) for row in desk.list(operations.list_rows(path, {**size, **query})))
        print_rows(islice(rows, limit or None), columns, json=json, ndjson=ndjson)


def print_result(operation: Operation[Any], *, json: bool) -> None:
    """Send a request, and print the object in its response."""
    with open_desk() as desk:
        print_row(desk.run(operation._replace(read=operations.read_row)), json=json)
