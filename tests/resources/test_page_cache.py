"""Pages of lists in memory: which are found, and how many bytes they may take."""

from sealdesk.resources.page_cache import PageCache

PAGE = b"x" * 1000


def cached(cache: PageCache, tenant_id: str, name: str, stamp: int = 1, page: bytes = PAGE) -> None:
    for _ in range(2):
        cache.add(tenant_id, name, page, stamp)


def test_a_page_is_cached_when_it_is_read_a_second_time() -> None:
    cache = PageCache()
    cache.add("t", "a", PAGE, 1)
    assert cache.find("t", "a", 1) == b""
    cache.add("t", "a", PAGE, 1)
    assert cache.find("t", "a", 1) == PAGE


def test_another_stamp_tenant_or_name_finds_nothing() -> None:
    cache = PageCache()
    cached(cache, "t", "a")
    assert [cache.find("t", "a", 2), cache.find("u", "a", 1), cache.find("t", "b", 1)] == [b""] * 3


def test_pages_of_an_older_stamp_leave_with_the_first_of_the_new_one() -> None:
    cache = PageCache()
    cached(cache, "t", "a", stamp=1)
    cached(cache, "t", "b", stamp=2)
    assert (cache.find("t", "a", 1), cache.find("t", "a", 2)) == (b"", b"")
    assert cache.find("t", "b", 2) == PAGE


def test_a_tenant_has_a_bound() -> None:
    cache = PageCache(max_tenant_bytes=5000)
    for n in range(100):
        cached(cache, "t", f"{n}")
    found = [n for n in range(100) if cache.find("t", f"{n}", 1)]
    assert 0 < len(found) <= 5
    cached(cache, "t", "large", page=b"x" * 6000)
    assert cache.find("t", "large", 1) == b""


def test_pages_that_are_read_once_count_as_well() -> None:
    cache = PageCache(max_tenant_bytes=5000)
    for n in range(1000):
        cache.add("t", f"{n}", PAGE, 1)
    assert len(cache._tenants["t"].by_name) <= 5000 // 256


def test_the_tenant_unused_longest_leaves_first() -> None:
    cache = PageCache(max_bytes=3600)
    for tenant_id in ("a", "b", "a", "c", "d"):
        cached(cache, tenant_id, f"{tenant_id}{len(cache._tenants)}")
    assert "b" not in cache._tenants
    assert cache._size == sum(pages.size for pages in cache._tenants.values()) <= 3600
