"""The forms in which libraries serialise the same JSON."""

import json
from collections.abc import Iterator
from contextlib import suppress

_LAYOUTS = {"compact": (",", ":"), "default": (", ", ": ")}


def reserialised(body: bytes) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, bytes) of the usual forms of a JSON body; none if it is not JSON."""
    with suppress(ValueError, RecursionError):
        value = json.loads(body)
        for layout, separators in _LAYOUTS.items():
            for is_ascii in (False, True):
                text = json.dumps(
                    value, ensure_ascii=is_ascii, separators=separators, check_circular=False
                )
                yield f"body_reserialised_{layout}", text.encode()
