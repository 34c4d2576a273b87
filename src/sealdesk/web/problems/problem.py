"""An error code explained."""

from typing import Any

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """A code explained.

    detail: an example of the document's `detail`. members: examples of its further members.
    headers: what the answer carries besides.
    """

    means: str
    remedy: str
    detail: str
    members: dict[str, Any] = {}
    headers: tuple[str, ...] = ()
