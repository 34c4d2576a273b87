"""SQL texts that follow from lists of columns, made when a store is imported."""

from collections.abc import Iterable


def column_list(names: Iterable[str], table: str = "") -> str:
    """`a, b`, or `t.a, t.b` for a table or its alias."""
    prefix = f"{table}." if table else ""
    return ", ".join(f"{prefix}{name}" for name in names)


def parameter_list(names: Iterable[str]) -> str:
    """`:a, :b`, for VALUES."""
    return ", ".join(f":{name}" for name in names)


def insert_into(table: str, columns: str | Iterable[str]) -> str:
    """An INSERT of the parameters that are called as their columns."""
    names = columns.split() if isinstance(columns, str) else [*columns]
    return f"INSERT INTO {table} ({column_list(names)}) VALUES ({parameter_list(names)})"


def insert_or_update(table: str, key: str, columns: str) -> str:
    """An INSERT that changes these columns of the row that has the key."""
    assignments = ", ".join(f"{name} = excluded.{name}" for name in columns.split())
    return (
        f"{insert_into(table, f'{key} {columns}')}"
        f" ON CONFLICT ({column_list(key.split())}) DO UPDATE SET {assignments}"
    )


def insert_once(table: str, key: str, columns: str | Iterable[str]) -> str:
    """The same, unless there is a row that has the key."""
    return f"{insert_into(table, columns)} ON CONFLICT ({column_list(key.split())}) DO NOTHING"


def update_row(table: str, columns: str | Iterable[str], key: str = "tenant_id id") -> str:
    """An UPDATE of these columns in the row that has the key, from parameters of their names."""
    names = columns.split() if isinstance(columns, str) else columns
    return f"UPDATE {table} SET {assignment_list(names)} WHERE {_condition(key)}"


def delete_row(table: str, key: str = "tenant_id id") -> str:
    """A DELETE of the row that has the key, or of the rows."""
    return f"DELETE FROM {table} WHERE {_condition(key)}"


def select_row(table: str, columns: str, key: str = "tenant_id id") -> str:
    """A SELECT of the row that has the key. table: perhaps with an alias; columns: as SQL."""
    _, _, alias = table.partition(" ")
    return f"SELECT {columns} FROM {table} WHERE {_condition(key, alias)} LIMIT 1"


def id_parameters(ids: Iterable[str]) -> tuple[str, dict[str, object]]:
    """`:id_0, :id_1`, for IN, and their values."""
    params: dict[str, object] = {f"id_{place}": each for place, each in enumerate(ids)}
    return ", ".join(f":{name}" for name in params), params


def assignment_list(names: Iterable[str]) -> str:
    """`a = :a, b = :b`, for SET."""
    return ", ".join(f"{name} = :{name}" for name in names)


def _condition(key: str, alias: str = "") -> str:
    prefix = f"{alias}." if alias else ""
    return " AND ".join(f"{prefix}{name} = :{name}" for name in key.split())
