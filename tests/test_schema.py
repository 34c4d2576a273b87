"""Tenants cannot meet: every key, index and statement of a tenant's table names the tenant."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import Table

import sealdesk
from sealdesk.db.schema import GLOBAL_TABLES, metadata

SOURCE = Path(sealdesk.__file__).parent
OF_TENANTS = [table for table in metadata.sorted_tables if table.name not in GLOBAL_TABLES]
# Statements that see more than one tenant, each for a reason.
ACROSS_TENANTS = {
    # The way in: before the key or the user is found, the tenant is not known.
    "api_keys/store.py _FIND_BY_HASH",
    "identity/store.py _FIND_BY_EMAIL",
    # Time has passed for all alike.
    "api_keys/store.py _PRUNE_SIGNATURES",
    "idempotency.py _PRUNE",
    # A new master key seals every secret anew.
    "api_keys/store.py _LIST_SEALED",
}


def test_global_tables_exist() -> None:
    assert set(GLOBAL_TABLES) <= set(metadata.tables)


@pytest.mark.parametrize("table", OF_TENANTS, ids=str)
def test_primary_key_begins_with_the_tenant(table: Table) -> None:
    assert next(iter(table.primary_key.columns)).name == "tenant_id"


@pytest.mark.parametrize("table", OF_TENANTS, ids=str)
def test_unique_indexes_begin_with_the_tenant(table: Table) -> None:
    leading = {next(iter(index.columns)).name for index in table.indexes if index.unique}
    assert leading <= {"tenant_id"}


@pytest.mark.parametrize("table", OF_TENANTS, ids=str)
def test_foreign_keys_begin_with_the_tenant(table: Table) -> None:
    for constraint in table.foreign_key_constraints:
        first = constraint.elements[0]
        assert first.parent.name == "tenant_id"
        assert first.target_fullname.endswith((".tenant_id", "tenants.id"))


class Statement(NamedTuple):
    """An SQL text of the source. name: its constant, or the function that makes it."""

    name: str
    sql: str
    function: str


def _statements() -> list[Statement]:
    paths = [*SOURCE.glob("*/store.py"), *SOURCE.glob("*/lists.py")]
    paths += [SOURCE / f"{name}.py" for name in ("events", "audit", "idempotency")]
    return [found for path in sorted(paths) for found in _statements_in(path)]


def _statements_in(path: Path) -> Iterator[Statement]:
    where = path.relative_to(SOURCE)
    module = ast.parse(path.read_text())
    texts: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            texts[node.targets[0].id] = _text(node.value, texts)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(node):
                sql = _text(inner, texts)
                if _is_sql(sql):
                    yield Statement(f"{where} {node.name}", sql, ast.unparse(node))
    for name, sql in texts.items():
        if _is_sql(sql) and name not in _parts(module):
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
    return text.lstrip().startswith(("SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM "))


STATEMENTS = _statements()


def _is_of_tenants(statement: Statement) -> bool:
    words = statement.sql.replace("(", " ").split()
    named = {after for word, after in pairwise(words) if word in _BEFORE_TABLE}
    return not named <= set(GLOBAL_TABLES)


_BEFORE_TABLE = ("FROM", "JOIN", "INTO", "UPDATE")


def _binds_tenant(statement: Statement) -> bool:
    text = statement.sql + statement.function
    if statement.sql.lstrip().startswith("INSERT"):
        return ":tenant_id" in text
    return "tenant_id = :tenant_id" in text


@pytest.mark.parametrize("statement", STATEMENTS, ids=[found.name for found in STATEMENTS])
def test_statement_is_bound_to_one_tenant(statement: Statement) -> None:
    if _is_of_tenants(statement) and statement.name not in ACROSS_TENANTS:
        assert _binds_tenant(statement), statement.sql


def test_statements_across_tenants_are_still_there() -> None:
    assert {statement.name for statement in STATEMENTS} >= ACROSS_TENANTS
