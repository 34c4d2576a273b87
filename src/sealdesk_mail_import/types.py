"""The structs of an import."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol

import msgspec


class Entry(NamedTuple):
    """A message that a source has.

    position, size_bytes: what the source reads it by. written_s: when it was written, in seconds.
    """

    position: int
    size_bytes: int
    written_s: int


class Source(Protocol):
    """A file or folder with messages. Everything raises MailFailed if it is on a mail server."""

    def find_messages(self, now_s: int) -> AsyncIterator[Entry]:
        """All messages, in the order of the source. Raises NotAMailbox, OSError."""

    async def read(self, entry: Entry) -> bytes:
        """The bytes of a message. Raises CannotRead, OSError."""

    def close(self) -> None:
        """End what it holds."""

    def place_of(self, position: int) -> str:
        """Where a message is, for people."""

    @property
    def size_bytes(self) -> int:
        """What there is to read, for the progress; 0 if that is not known."""

    @property
    def left_out(self) -> int:
        """How many messages were found that nobody wants."""


class NotAMailbox(Exception):
    """A path has no mailbox of the kind that was named. Its text says why."""


class CannotRead(Exception):
    """A message cannot be imported. Its text says why."""


class Failure(NamedTuple):
    """A message that was not imported."""

    place: str
    reason: str


class Totals(msgspec.Struct):
    """What became of the messages of an import.

    outcomes: of those that were taken now. known: taken before. unclear: those of which something
    could not be understood.
    """

    outcomes: Counter[str] = msgspec.field(default_factory=Counter)
    known: int = 0
    unclear: int = 0
    failed: int = 0
