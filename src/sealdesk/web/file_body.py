"""The body of a response that is read in parts while it is sent."""

from typing import Protocol


class FileBody(Protocol):
    """A body that is read in parts of at most `part_bytes`, `size` bytes in all."""

    size: int
    part_bytes: int

    async def read_part(self) -> bytes:
        """The next part, empty at the end."""

    async def close(self) -> None: ...
