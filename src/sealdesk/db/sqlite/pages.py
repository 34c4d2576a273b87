"""Reads the pages of a database file past SQLite, and finds those that cannot be its pages.

A page of SQLite has no checksum. But each page is part of a b-tree, of a chain of overflow pages or
of the list of free pages, and begins accordingly (sqlite.org/fileformat2.html, 1.5 to 1.7). Noise
fits none of them. This needs no transaction, so it holds no snapshot however long it takes.
"""

import os
import sys
from array import array
from collections.abc import Iterable
from typing import NamedTuple

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_LOCK_BYTE = 1 << 30  # the page with this byte is never written
# Type of a b-tree page → size of its header.
_BTREE_HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}


class _Layout(NamedTuple):
    """page_count: of the header or the file, whichever is more. usable: bytes of a page.

    first_free: the page with which the list of free pages begins, or 0.
    """

    page_size: int
    usable: int
    page_count: int
    first_free: int


def count_pages(descriptor: int) -> int:
    """The number of pages of a database file, 1 when its first page is damaged. Raises OSError."""
    layout = _read_layout(descriptor)
    return layout.page_count if layout else 1


def find_implausible(descriptor: int, numbers: Iterable[int]) -> frozenset[int]:
    """Those of the pages that cannot be pages of the database in this file. Raises OSError.

    A page of zeros counts if it is not in the list of free pages.
    """
    layout = _read_layout(descriptor)
    if layout is None:
        return frozenset({1})
    found, empty = set(), set()
    for number in numbers:
        page = os.pread(descriptor, layout.page_size, (number - 1) * layout.page_size)
        # A short read: the log has pages that the file does not have yet.
        if len(page) < layout.page_size or number == _LOCK_BYTE // layout.page_size + 1:
            continue
        if not _is_plausible(page, layout, number):
            found.add(number)
        elif not any(page):
            empty.add(number)
    return frozenset(found | (empty - _list_free(descriptor, layout) if empty else empty))


def _read_layout(descriptor: int) -> _Layout | None:
    header = os.pread(descriptor, _HEADER_BYTES, 0)
    page_size = _number(header, 16, 2)
    page_size = 65_536 if page_size == 1 else page_size
    if not header.startswith(_MAGIC) or page_size < 512 or len(header) < _HEADER_BYTES:
        return None
    pages_in_file = os.fstat(descriptor).st_size // page_size
    return _Layout(
        page_size,
        page_size - header[20],
        max(pages_in_file, _number(header, 28, 4)),
        _number(header, 32, 4),
    )


def _is_plausible(page: bytes, layout: _Layout, number: int) -> bool:
    if number == 1:
        return _is_btree(page, layout, _HEADER_BYTES)
    # The number of another page begins overflow pages and pages of the free list. The third such
    # kind, the pointer map of auto_vacuum, is not used.
    return _number(page, 0, 4) <= layout.page_count or _is_btree(page, layout, 0)


def _is_btree(page: bytes, layout: _Layout, start: int) -> bool:
    header_bytes = _BTREE_HEADERS.get(page[start])
    if header_bytes is None:
        return False
    cells = array("H", page[start + header_bytes :][: 2 * _number(page, start + 3, 2)])
    if sys.byteorder == "little":
        cells.byteswap()
    content = _number(page, start + 5, 2) or 65_536
    first = start + header_bytes + 2 * len(cells)
    if not first <= content <= layout.usable or page[start + 7] > 60:
        return False
    return not cells or (min(cells) >= content and max(cells) < layout.usable)


def _list_free(descriptor: int, layout: _Layout) -> set[int]:
    free: set[int] = set()
    trunk = layout.first_free
    while trunk and trunk not in free:
        free.add(trunk)
        page = os.pread(descriptor, layout.page_size, (trunk - 1) * layout.page_size)
        leaves = page[8 : 8 + 4 * min(_number(page, 4, 4), layout.usable // 4 - 2)]
        free.update(_number(leaves, at, 4) for at in range(0, len(leaves), 4))
        trunk = _number(page, 0, 4)
    return free


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")
