"""Each table of a statement has a condition on the tenant of its own.

A PostgreSQL that spreads tenants over nodes finds the node of a table by `tenant_id = :tenant_id`.
Of a join that only passes the tenant on it returned empty pages, or failed.
"""

import pytest

from sealdesk.db.schema import metadata
from sealdesk_citus.groups import distribution_of
from tests.support.built_statements import built_statements
from tests.support.for_each import for_each
from tests.support.statements import Statement, statements
from tests.support.tenant_conditions import inserts_selection, unbound_tables
from tests.test_schema import ACROSS_TENANTS

# What is declared, with the reason.
_INSERTS_OF_A_SELECTION = {
    "sealdesk_citus/store.py _PLACE_OF": "the events stay on the node of their tenant",
    "webhooks/store/deliveries.py _ADD_ATTEMPT": "a delivery that was deleted has no attempts",
    "search/store/tickets.py _SAVE_ALL": "of several tenants: arrays of the worker, no table",
    "search/store/customers.py _SAVE_ALL": "of several tenants: arrays of the worker, no table",
}
_UNBOUND = {
    "sealdesk_citus/store.py _PLACE_OF": ["events"],
    "search/store/tickets.py _SAVE_ALL": ["search_documents"],
    "search/store/customers.py _SAVE_ALL": ["customer_documents"],
    "webhooks/store/deliveries.py _ADD_ATTEMPT": ["attempts"],
}
OF_ONE_TENANT = [
    found for found in statements() if found.is_of_tenants and found.name not in ACROSS_TENANTS
]
WHOLE = [found for found in OF_ONE_TENANT if not found.function]


def test_each_table_of_a_statement_has_a_condition_on_the_tenant() -> None:
    faults = {
        found.name: (tables, found.sql)
        for found in WHOLE
        if (tables := unbound_tables(found.sql)) != _UNBOUND.get(found.name, [])
    }
    assert not faults, _described(faults)


def test_each_table_of_a_statement_built_at_run_time_has_a_condition_on_the_tenant() -> None:
    built = sorted(built_statements().sql)
    assert len(built) > 150
    faults = {
        f"statement {place}": (tables, sql)
        for place, sql in enumerate(built)
        if (tables := unbound_tables(sql))
    }
    assert not faults, _described(faults)


def _described(faults: dict[str, tuple[list[str], str]]) -> str:
    shown = [
        f"{name}\n{sql.strip()}\nhas no `tenant_id = :tenant_id` for: {', '.join(tables) or '-'}"
        for name, (tables, sql) in faults.items()
    ]
    return "\n\n".join([f"{len(shown)} statements, the first of them:", *shown[:5]])


@for_each(
    "built", [found for found in OF_ONE_TENANT if found.function], ids=lambda found: found.name
)
def test_each_function_that_builds_a_statement_has_an_example(built: Statement) -> None:
    assert built.name in built_statements().functions


def test_only_declared_inserts_contain_a_select() -> None:
    inserts = {found.name for found in statements() if found.verb == "INSERT"}
    found = {each.name for each in WHOLE if each.name in inserts and inserts_selection(each.sql)}
    assert found == {*_INSERTS_OF_A_SELECTION}


@for_each(
    ("sql", "unbound"),
    [
        ("SELECT 1 FROM tickets WHERE id = :id", ["tickets"]),
        ("SELECT 1 FROM tickets WHERE tenant_id = :id OR tenant_id = :tenant_id", ["tickets"]),
        (
            "SELECT 1 FROM tickets t JOIN customers c ON c.tenant_id = t.tenant_id"
            " AND c.id = t.customer_id WHERE t.tenant_id = :tenant_id",
            ["customers AS c"],
        ),
        (
            "SELECT 1 FROM tickets t LEFT JOIN users u ON u.id = t.assignee_id"
            " WHERE t.tenant_id = :tenant_id",
            ["users AS u"],
        ),
        ("SELECT 1 FROM tickets t, users u WHERE tenant_id = :tenant_id", ["tickets AS t"]),
        (
            "SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id AND EXISTS"
            " (SELECT 1 FROM ticket_tags g WHERE g.tenant_id = t.tenant_id AND g.tag = :tag)",
            ["ticket_tags AS g"],
        ),
        (
            "SELECT (SELECT name FROM customers c WHERE c.id = t.customer_id) FROM tickets t"
            " WHERE t.tenant_id = :tenant_id",
            ["customers AS c"],
        ),
        (
            "SELECT id FROM tickets WHERE tenant_id = :tenant_id"
            " UNION ALL SELECT id FROM customers LIMIT :limit",
            ["customers"],
        ),
        (
            "WITH found AS (SELECT id FROM tickets WHERE number = 1) SELECT id FROM found",
            ["tickets"],
        ),
        ("UPDATE tickets SET number = 1 WHERE id = :id", ["tickets"]),
        (
            "UPDATE tickets SET number = 1 WHERE tenant_id = :tenant_id"
            " AND id IN (SELECT ticket_id FROM replies)",
            ["replies"],
        ),
        ("DELETE FROM tickets WHERE id = :id", ["tickets"]),
        ("INSERT INTO tickets (id, tenant_id) VALUES (:tenant_id, :id)", ["tickets"]),
        ("INSERT INTO tickets (id) SELECT id FROM replies", ["tickets", "replies"]),
    ],
)
def test_a_table_without_its_condition_is_found(sql: str, unbound: list[str]) -> None:
    assert unbound_tables(sql)[: len(unbound)] == unbound


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM tenants WHERE id = :id",
        "SELECT 1 FROM tickets WHERE id = :id AND tenant_id = :tenant_id AND (number = 1 OR TRUE)",
        "SELECT 1 FROM tickets t LEFT JOIN users u ON u.tenant_id = :tenant_id"
        " AND u.id = t.assignee_id WHERE t.tenant_id = :tenant_id",
        "WITH tickets_of AS (SELECT id FROM tickets WHERE tenant_id = :tenant_id)"
        " SELECT id FROM tickets_of",
        "INSERT INTO tickets (id, tenant_id) VALUES (:id, :tenant_id)"
        " ON CONFLICT (tenant_id, id) DO UPDATE SET number = excluded.number",
    ],
)
def test_a_table_with_its_condition_is_not_found(sql: str) -> None:
    assert unbound_tables(sql) == []


def test_a_select_in_an_insert_is_found() -> None:
    assert inserts_selection("INSERT INTO tickets (id) VALUES ((SELECT max(id) FROM tickets))")
    assert not inserts_selection("INSERT INTO tickets (id) VALUES (:id)")


def test_no_statement_reads_tables_that_may_be_on_different_nodes() -> None:
    assert {found.name: found.sql for found in statements() if len(_places(found)) > 1} == {}


@pytest.mark.parametrize(
    ("joined", "count"), [("tenants", 1), ("customers", 1), ("user_directory", 2)]
)
def test_a_table_on_another_node_is_found(joined: str, count: int) -> None:
    sql = f"SELECT 1 FROM tickets t JOIN {joined} j ON j.id = t.id"
    assert len(_places(Statement("joined", sql, ""))) == count


def _places(statement: Statement) -> set[str]:
    """Where its rows are: on the node of the tenant, or of a table that is placed on its own."""
    names = [name for name in statement.tables if name in metadata.tables]
    kinds = {name: distribution_of(name).kind for name in names}
    return {
        kind if kind == "by_tenant" else name for name, kind in kinds.items() if kind != "reference"
    }
