"""The messages of all sources in the order in which they were written, for threads to form."""

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sealdesk_mail_import.types import Entry, Source

# The place of a message has 24 bits beside its time, so that an array of numbers is sorted.
_NUMBER_BITS = 24
MAX_MESSAGES = 2**_NUMBER_BITS
_BITS = 2**_NUMBER_BITS - 1


class Place(NamedTuple):
    """A message and where it is."""

    source: Source
    entry: Entry

    def __str__(self) -> str:
        return self.source.place_of(self.entry.position)


class Order:
    """All messages of an import by their time, then by their place: 25 bytes for each."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._source_of = array("B")
        self._positions = array("Q")
        self._sizes = array("Q")
        self._keys = array("Q")

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, source_number: int, entry: Entry) -> None:
        """Add a message of a source."""
        self._keys.append(entry.written_s << _NUMBER_BITS | len(self._keys))
        self._source_of.append(source_number)
        self._positions.append(entry.position)
        self._sizes.append(entry.size_bytes)

    def sort(self) -> None:
        self._keys = array("Q", sorted(self._keys))

    def __iter__(self) -> Iterator[Place]:
        for key in self._keys:
            number = key & _BITS
            entry = Entry(self._positions[number], self._sizes[number], key >> _NUMBER_BITS)
            yield Place(self._sources[self._source_of[number]], entry)
