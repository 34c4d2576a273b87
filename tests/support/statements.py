"""The SQL texts of the source: those of the rooms' stores, and of what all rooms share."""

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import sealdesk
from sealdesk.db import schema

SOURCE = Path(sealdesk.__file__).parent
_VERBS = ("SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ")
# What only the background loop runs, on PostgreSQL in a role of its own.
_FILES_OF_WORKER = (
    "webhooks/store/deliveries.py",
    "webhooks/store/fan_out.py",
    "tickets/tags/steps/store.py",
    "automation/steps/store.py",
    "tickets/promises/steps/store.py",
    "reports/steps/store.py",
    "mail/weekly_reports/steps/store.py",
    "tickets/erasing/steps/store.py",
    "tickets/erasing/steps/logs/store.py",
    "tickets/erasing/steps/mail/store.py",
    "installation/store/tenants.py",
    "mail/sending/store.py",
    "search/store/documents.py",
    "search/store/rebuilds.py",
    "event_log/sequencer.py",
    "event_log/consumers.py",
    "event_log/positions.py",
    "sealdesk_citus/store.py",
    "search/store/tickets.py",
    "search/store/customers.py",
)
_INDEXES = {"search_index", "search_tickets", "search_index_customers", "search_customers"}
_BEFORE_TABLE = ("FROM", "JOIN", "INTO", "UPDATE")


class Statement(NamedTuple):
    """An SQL text. name: its constant, or the function that makes it from parts.

    function: the source of that function, "" for a text that stands as it is.
    """

    name: str
    sql: str
    function: str

    @property
    def verb(self) -> str:
        return self.sql.split(maxsplit=1)[0]

    @property
    def tables(self) -> list[str]:
        """The tables that it names, one for each time."""
        words = self.sql.replace("(", " ").replace(")", " ").split()
        named = [after for word, after in pairwise(words) if word in _BEFORE_TABLE]
        return [name for name in named if name.isidentifier() and name.islower()]

    @property
    def is_of_tenants(self) -> bool:
        return not {*self.tables} <= {*schema.GLOBAL}

    @property
    def is_of_index(self) -> bool:
        """Whether it asks what only one database has: an index of words, or the function to it."""
        return not _INDEXES.isdisjoint(self.tables)

    @property
    def is_of_worker(self) -> bool:
        is_queue = self.name.partition(" ")[0].endswith(_FILES_OF_WORKER)
        return is_queue or "PRUNE" in self.name


@cache
def statements() -> tuple[Statement, ...]:
    """All of them, those that are put together at run time with what is known of them here."""
    patterns = ("**/store.py", "**/store/*.py", "event_log/*.py", "records/*.py")
    paths = [path for pattern in patterns for path in SOURCE.glob(pattern)]
    paths.append(SOURCE.parent / "sealdesk_citus" / "store.py")
    return tuple(found for path in sorted(paths) for found in _statements_in(path))


def _statements_in(path: Path) -> Iterator[Statement]:
    place = path.relative_to(SOURCE.parent)
    where = path.relative_to(SOURCE) if place.parts[0] == SOURCE.name else place
    module = ast.parse(path.read_text())
    # Some texts are put together from the fields of structs: they are read from the module itself.
    loaded = importlib.import_module(".".join(place.with_suffix("").parts))
    texts: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = getattr(loaded, node.targets[0].id)
            texts[node.targets[0].id] = value if isinstance(value, str) else ""
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(node):
                sql = _text(inner, texts)
                if _is_sql(sql):
                    yield Statement(f"{where} {node.name}", sql, ast.unparse(node))
    parts = _parts(module)
    for name, sql in texts.items():
        if _is_sql(sql) and name not in parts:
            yield Statement(f"{where} {name}", sql, "")


def _text(node: ast.AST, texts: dict[str, str]) -> str:
    """What a text says, with the constants that it is put together from."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, texts) for part in node.values)
    if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name):
        return texts.get(node.value.id, "")
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _parts(module: ast.Module) -> set[str]:
    """The constants that other texts are put together from."""
    values = (node.value for node in ast.walk(module) if isinstance(node, ast.FormattedValue))
    return {value.id for value in values if isinstance(value, ast.Name)}


def _is_sql(text: str) -> bool:
    return text.lstrip().startswith(_VERBS)
