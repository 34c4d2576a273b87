"""Converts a stored struct into the struct that the API shows: times become ISO 8601."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from sealdesk.clock import Iso, iso_or_none

R = TypeVar("R", bound=msgspec.Struct)


def response_builder(response: type[R]) -> Callable[[Any], R]:
    """A function that builds this struct from any object with attributes of the same names.

    The types are read once, here; the function itself only copies values.
    """
    hints = get_type_hints(response, include_extras=True)
    names = response.__struct_fields__
    read = attrgetter(*names)
    times = [
        place for place, name in enumerate(names) if Iso in (hints[name], *get_args(hints[name]))
    ]

    def build(stored: Any) -> R:
        values = list(read(stored))
        for place in times:
            values[place] = iso_or_none(values[place])
        return response(**dict(zip(names, values, strict=True)))

    return build
