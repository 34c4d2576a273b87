"""JSON Merge Patch (RFC 7396): applying a change to a resource, and what differs afterwards."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET


def given_fields(change: msgspec.Struct) -> dict[str, Any]:
    """The fields of a change that were sent, by name; a field that was left out is UNSET."""
    fields = msgspec.structs.asdict(change)
    return {name: value for name, value in fields.items() if value is not UNSET}


def merge(before: dict[str, Any], patch: dict[str, Any] | None) -> dict[str, Any]:
    """A free object after a merge patch; null for the whole object empties it."""
    if patch is None:
        return {}
    after = dict(before)
    for name, value in patch.items():
        if value is None:
            after.pop(name, None)
        elif isinstance(value, dict):
            inner = after.get(name)
            after[name] = merge(inner if isinstance(inner, dict) else {}, value)
        else:
            after[name] = value
    return after


def differences(before: Any, after: Any, names: Iterable[str]) -> dict[str, tuple[Any, Any]]:
    """field → (old, new) of the named fields that differ."""
    changes = {}
    for name in names:
        old, new = getattr(before, name), getattr(after, name)
        if old is not new and not is_same(old, new):
            changes[name] = old, new
    return changes


def changed_keys(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The keys of two free objects whose values are not the same JSON."""
    return [
        key
        for key in dict.fromkeys((*old, *new))
        if key not in old or key not in new or not is_same({key: old[key]}, {key: new[key]})
    ]


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; Python alone takes 1, 1.0 and true for equal."""
    if one != other or not isinstance(one, dict):
        return bool(one == other)
    encode = msgspec.json.encode
    return encode(one, order="deterministic") == encode(other, order="deterministic")
