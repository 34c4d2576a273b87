"""Values made of rows, which stay known until the database says that such a row has changed."""

from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class KnownRows(Generic[T]):
    """Values by what they were looked up with; above the limit, the one unused longest leaves.

    stamp: a number that every change of the rows replaces; None, and nothing is kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._stamp: int | None = None
        self._values: OrderedDict[bytes, T] = OrderedDict()

    def find(self, name: bytes, stamp: int | None) -> T | None:
        """The value made of rows that have not changed until this stamp was read."""
        if stamp is None or stamp != self._stamp:
            self._values.clear()
            self._stamp = stamp
        value = self._values.get(name)
        if value is not None:
            self._values.move_to_end(name)
        return value

    def add(self, name: bytes, value: T, stamp: int | None) -> None:
        """Keep a value. stamp: read before the rows, so that any later change replaces it."""
        if stamp is None or stamp != self._stamp:
            return
        self._values[name] = value
        if len(self._values) > self._limit:
            self._values.popitem(last=False)
