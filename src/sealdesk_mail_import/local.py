"""Files and folders of this machine as sources of messages."""

from collections.abc import AsyncIterator, Iterator
from typing import Protocol

from sealdesk_mail_import.types import Entry


class Files(Protocol):
    """An mbox file or a Maildir folder."""

    size_bytes: int
    left_out: int

    def find_messages(self, now_s: int) -> Iterator[Entry]: ...

    def read(self, entry: Entry) -> bytes: ...

    def place_of(self, position: int) -> str: ...


class LocalSource:
    """The messages of files, which nothing else waits for in the process of a command."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.size_bytes = files.size_bytes
        self.place_of = files.place_of

    @property
    def left_out(self) -> int:
        return self._files.left_out

    async def find_messages(self, now_s: int) -> AsyncIterator[Entry]:
        for each in self._files.find_messages(now_s):
            yield each

    async def read(self, entry: Entry) -> bytes:
        return self._files.read(entry)

    def close(self) -> None:
        """Files are open only while they are read."""
