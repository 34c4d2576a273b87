"""Lists of columns for SQL texts, made from the fields of structs when a store is imported."""

from collections.abc import Iterable


def column_list(names: Iterable[str], table: str = "") -> str:
    """`a, b`, or `t.a, t.b` for a table or its alias."""
    prefix = f"{table}." if table else ""
    return ", ".join(f"{prefix}{name}" for name in names)


def parameter_list(names: Iterable[str]) -> str:
    """`:a, :b`, for VALUES."""
    return ", ".join(f":{name}" for name in names)


def id_parameters(ids: Iterable[str]) -> tuple[str, dict[str, object]]:
    """`:id_0, :id_1`, for IN, and their values."""
    params: dict[str, object] = {f"id_{place}": each for place, each in enumerate(ids)}
    return ", ".join(f":{name}" for name in params), params


def assignment_list(names: Iterable[str]) -> str:
    """`a = :a, b = :b`, for SET."""
    return ", ".join(f"{name} = :{name}" for name in names)
