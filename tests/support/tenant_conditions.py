"""Whether each table of a statement has a condition on the tenant of its own.

A database that spreads tenants over nodes finds the node by `tenant_id = :tenant_id`. From a
condition that a join passes on, as in `c.tenant_id = p.tenant_id`, it does not.
"""

from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from sealdesk.db import schema

_COMMANDS = (exp.Select, exp.Update, exp.Delete, exp.Insert)


def unbound_tables(sql: str) -> list[str]:
    """The tables of tenants that have no `tenant_id = :tenant_id`, as the statement names them.

    An INSERT has it in its values.
    """
    tree = _parse(sql)
    defined = {each.alias_or_name for each in tree.find_all(exp.CTE)}
    found = [
        table
        for command in tree.find_all(*_COMMANDS)
        for table in _tables_without_condition(command)
        if table.name not in defined
    ]
    return [table.sql(dialect="postgres") for table in found]


def inserts_selection(sql: str) -> bool:
    """Whether an INSERT contains a SELECT."""
    return any(each.find(exp.Select) for each in _parse(sql).find_all(exp.Insert))


def _parse(sql: str) -> exp.Expression:
    # Only SQLite has MATCH.
    return sqlglot.parse_one(sql, dialect="sqlite" if " MATCH " in sql else "postgres")


def _tables_without_condition(command: exp.Expression) -> Iterator[exp.Table]:
    own = [each for each in _own(command, exp.Table) if isinstance(each.this, exp.Identifier)]
    bound = {*_bound_names(command)}
    if isinstance(command, exp.Insert) and _inserts_tenant(command):
        bound |= {table.alias_or_name for table in own}
    for table in own:
        names = {table.alias_or_name} | ({""} if len(own) == 1 else set())
        if table.name not in schema.GLOBAL and bound.isdisjoint(names):
            yield table


def _bound_names(command: exp.Expression) -> Iterator[str]:
    """The tables with a condition on the tenant, "" for one without a name before its column."""
    places = [where.this for where in _own(command, exp.Where)]
    places += [join.args["on"] for join in _own(command, exp.Join) if join.args.get("on")]
    for place in places:
        for condition in place.flatten() if isinstance(place, exp.And) else [place]:
            if isinstance(condition, exp.EQ) and _is_tenant(condition.right):
                column = condition.left
                if isinstance(column, exp.Column) and column.name == "tenant_id":
                    yield column.table


def _inserts_tenant(insert: exp.Expression) -> bool:
    columns = [column.name for column in insert.this.expressions]
    if "tenant_id" not in columns or not isinstance(insert.expression, exp.Values):
        return False
    place = columns.index("tenant_id")
    return all(_is_tenant(row.expressions[place]) for row in insert.expression.expressions)


def _is_tenant(value: exp.Expression) -> bool:
    return isinstance(value, exp.Placeholder) and value.name == "tenant_id"


def _own(command: exp.Expression, kind: type[exp.Expression]) -> Iterator[exp.Expression]:
    """The parts of this kind that belong to the command itself, not to a command within it."""
    for part in command.find_all(kind):
        if part.find_ancestor(*_COMMANDS) is command:
            yield part
