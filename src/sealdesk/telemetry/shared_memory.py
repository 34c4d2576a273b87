"""Memory that the workers of one parent share: each writes into its own part what it counts."""

import mmap
import struct
from zlib import crc32

_PAGE_BYTES = 64 * 1024
_HEAD = struct.Struct("<II")  # length and checksum of what follows
_PART_BYTES = 1 + 2 * _PAGE_BYTES  # which of the two pages holds, and both


class SharedMemory:
    """One part a worker. Made before the fork, it lives as long as any of them.

    A part has two pages, written in turn: one that is being read is whole, unless its reader was
    overtaken twice meanwhile, which the checksum shows.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._memory = mmap.mmap(-1, workers * _PART_BYTES)

    def write(self, worker: int, content: bytes) -> None:
        """Replace what a worker, counted from 1, has written. Raises ValueError above 64 KiB."""
        if len(content) > _PAGE_BYTES - _HEAD.size:
            raise ValueError(f"{len(content)} bytes do not fit into a part")
        part = (worker - 1) * _PART_BYTES
        page = 1 - self._memory[part]
        written = _HEAD.pack(len(content), crc32(content)) + content
        at = part + 1 + page * _PAGE_BYTES
        self._memory[at : at + len(written)] = written
        self._memory[part] = page

    def read(self, worker: int) -> bytes:
        """What a worker wrote last; empty when it has not."""
        while True:
            part = (worker - 1) * _PART_BYTES
            at = part + 1 + self._memory[part] * _PAGE_BYTES
            length, checksum = _HEAD.unpack_from(self._memory, at)
            content = self._memory[at + _HEAD.size : at + _HEAD.size + length]
            if crc32(content) == checksum:
                return content
