"""Pages of lists that stay in memory while nothing changes that they show."""

from collections import OrderedDict
from collections.abc import Hashable

MAX_TENANT_BYTES = 1024 * 1024  # 40 pages of 25 tickets
MAX_BYTES = 32 * 1024 * 1024
_NAME_BYTES = 256  # of a page that was asked for once


class _Pages:
    """The pages of a tenant that were read at one stamp; b"" for those that were read once."""

    __slots__ = ("by_name", "size", "stamp")

    def __init__(self, stamp: int) -> None:
        self.stamp = stamp
        self.by_name: dict[Hashable, bytes] = {}
        self.size = 0


class PageCache:
    """Pages by tenant and name; the tenant unused longest leaves when they are too large.

    stamp: a number that every change of what the pages show replaces.
    """

    def __init__(
        self, max_tenant_bytes: int = MAX_TENANT_BYTES, max_bytes: int = MAX_BYTES
    ) -> None:
        self._max_tenant_bytes = max_tenant_bytes
        self._max_bytes = max_bytes
        self._tenants: OrderedDict[str, _Pages] = OrderedDict()
        self._size = 0

    def find(self, tenant_id: str, name: Hashable, stamp: int) -> bytes:
        """The page that was read when the stamp was the same; empty if it is not here."""
        pages = self._tenants.get(tenant_id)
        if pages is None or pages.stamp != stamp:
            return b""
        return pages.by_name.get(name, b"")

    def add(self, tenant_id: str, name: Hashable, page: bytes, stamp: int) -> None:
        """Cache a page from its second reading on. stamp: read before the page, so that any later
        change replaces it."""
        pages = self._tenants.get(tenant_id)
        if pages is None or pages.stamp != stamp:
            pages = self._begin(tenant_id, stamp)
        is_second = name in pages.by_name
        size = len(page) if is_second else _NAME_BYTES
        if size > self._max_tenant_bytes:
            return
        if size + pages.size > self._max_tenant_bytes:
            pages = self._begin(tenant_id, stamp)
        pages.by_name[name] = page if is_second else b""
        pages.size += size
        self._size += size
        self._tenants.move_to_end(tenant_id)
        while self._size > self._max_bytes:
            self._remove(next(iter(self._tenants)))

    def _begin(self, tenant_id: str, stamp: int) -> _Pages:
        self._remove(tenant_id)
        pages = self._tenants[tenant_id] = _Pages(stamp)
        return pages

    def _remove(self, tenant_id: str) -> None:
        pages = self._tenants.pop(tenant_id, None)
        self._size -= pages.size if pages else 0
