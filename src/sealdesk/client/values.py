"""Values of bodies and queries: what JSON would turn into something else is refused."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from sealdesk.client.errors import InvalidConfiguration

_encode = msgspec.json.Encoder().encode


def encode(fields: Any) -> bytes:
    """Return the fields as JSON. Raises InvalidConfiguration."""
    try:
        _check(fields, "")
        return _encode(fields)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, InvalidConfiguration):
            raise
        raise InvalidConfiguration(f"the fields cannot be sent as JSON: {error}") from error


def instant(value: datetime, name: str) -> str:
    """Return a time with its offset. Raises InvalidConfiguration for one without."""
    if value.utcoffset() is None:
        raise InvalidConfiguration(
            f"{name} needs the time zone of its time, as in datetime.now(UTC), not {value!r}"
        )
    return value.isoformat()


def _check(value: Any, name: str) -> None:
    if isinstance(value, Mapping):
        for key, each in value.items():
            _check(each, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            _check(each, name)
    elif isinstance(value, datetime):
        instant(value, name)
    elif isinstance(value, bytes | bytearray | memoryview):
        raise InvalidConfiguration(f"{name} must be a str, not {type(value).__name__}: decode it")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidConfiguration(f"{name} cannot be {value!r}, which JSON does not have")
