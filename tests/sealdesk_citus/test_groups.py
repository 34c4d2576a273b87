"""Every table has one place in a distributed database, and its keys allow it."""

import re
from pathlib import Path

from sqlalchemy import Table

from sealdesk.db import schema
from sealdesk.db.schema import metadata
from sealdesk_citus import groups
from tests.support.for_each import for_each

_PAGE = Path("docs/citus.md").read_text()
_TABLES = metadata.sorted_tables
_BY_COLUMN = [table for table in _TABLES if groups.distribution_of(table.name).column]


@for_each("table", _BY_COLUMN, ids=str)
def test_unique_keys_contain_the_column_of_the_distribution(table: Table) -> None:
    column = groups.distribution_of(table.name).column
    unique = [index.columns for index in table.indexes if index.unique]
    assert all(column in keys for keys in (table.primary_key.columns, *unique))


@for_each("table", _TABLES, ids=str)
def test_foreign_keys_lead_to_the_same_shard_or_to_a_reference_table(table: Table) -> None:
    for key in table.foreign_key_constraints:
        referred = groups.distribution_of(key.referred_table.name)
        own = groups.distribution_of(table.name)
        is_colocated = own == referred and key.column_keys[0] == own.column
        assert referred.kind == "reference" or is_colocated


def test_a_table_is_distributed_after_those_that_it_refers_to() -> None:
    order = groups.in_order([table.name for table in _TABLES])
    assert sorted(order) == sorted(metadata.tables)
    for table in _TABLES:
        for key in table.foreign_key_constraints:
            assert order.index(key.referred_table.name) < order.index(table.name)


@for_each(
    ("heading", "kind"),
    [
        ("On every node", "reference"),
        ("By their own key", "by_key"),
        ("On one node", "one_shard"),
    ],
)
def test_the_documentation_names_the_tables_of_each_group(heading: str, kind: str) -> None:
    tables = [*schema.TABLES, schema.KEY_STAMP, schema.VERSION_TABLE]
    names = [name for name in tables if groups.distribution_of(name).kind == kind]
    (row,) = re.findall(rf"^\| {heading} \|(.*?)\|", _PAGE, re.M)
    assert sorted(re.findall(r"`([a-z_]+)`", row)) == sorted(names)
