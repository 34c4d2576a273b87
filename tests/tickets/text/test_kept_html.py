"""HTML of texts that is made once: it is the same, bounded, and nobody sees that of others."""

import asyncio

import pytest

from sealdesk.sandbox.pool import Exceeded, Pool
from sealdesk.sandbox.slots import Crowded
from sealdesk.tickets.text import kept_html, markdown
from sealdesk.tickets.text.arrangement import Look
from sealdesk.tickets.text.kept_html import ShownText
from sealdesk.tickets.text.mentions import index_names
from tests.support.for_each import for_each
from tests.support.pages import logged_in
from tests.support.service import Tenant

EVE = index_names([("1", "Eve Miller"), ("2", "Ada")])
LONG = "Dear *you*, cc a@b.test, @nobody\n\n> a\n> b\n> c\n> d\n\n" * 100


class _CountingPool(Pool):
    """call_count: how many texts its processes have rendered. error: what it raises instead."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.call_count = 0
        self.error = error

    async def run(self, function: str, data: bytes, *, cpu_s: float, payer: str) -> bytes:
        self.call_count += 1
        if self.error is not None:
            raise self.error
        return await super().run(function, data, cpu_s=cpu_s, payer=payer)


def _shown(pool: Pool, *looks: Look, text: str = LONG) -> list[ShownText]:
    async def main() -> list[ShownText]:
        shown = [await kept_html.render_all(pool, [(text, True)], look) for look in looks]
        await pool.close()
        return [each for (each,) in shown]

    return asyncio.run(main())


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> kept_html._Kept:
    kept = kept_html._Kept()
    monkeypatch.setattr(kept_html, "_kept", kept)
    return kept


def test_a_long_text_is_rendered_once_and_in_a_child_process() -> None:
    pool, look = _CountingPool(), Look("/desk", EVE, "Quoted")
    first, second = _shown(pool, look, look)
    assert pool.call_count == 1
    assert first == second
    assert (str(first.html), str(first.quoted)) == markdown.render(LONG, True, look)[:2]


def test_names_are_marked_for_those_alone_who_know_them() -> None:
    pool = _CountingPool()
    text = LONG + "@eve miller and &#64;Ada"
    known, unknown, again = _shown(
        pool, Look("", EVE, "Q"), Look("", index_names([("9", "Bob")]), "Q"), Look("", EVE, "Q"),
        text=text,
    )  # fmt: skip
    assert known.html.endswith("<strong>@eve miller</strong> and <strong>@Ada</strong></p>\n")
    assert unknown.html.endswith("<p>@eve miller and @Ada</p>\n")
    assert again == known and pool.call_count == 2


@for_each(("error", "has_markup"), [(Crowded(), True), (OSError(), True), (Exceeded(), False)])
def test_without_a_child_process_a_text_is_shown_all_the_same(
    error: Exception, has_markup: bool
) -> None:
    (shown,) = _shown(_CountingPool(error), Look(), text=LONG + repr(error))
    assert ("<em>you</em>" in shown.html) == has_markup and "Dear" in shown.html


def test_a_thread_that_has_worked_much_leaves_short_texts_to_child_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = _CountingPool(Crowded())
    monkeypatch.setattr(kept_html, "_thread", kept_html._Thread())
    monkeypatch.setattr(kept_html, "_REST_OF_THREAD", 1_000_000)
    for number in range(3):
        _shown(pool, Look(), text=f"{number} {LONG}"[:1_000])
    assert pool.call_count == 2


def test_what_is_kept_is_bounded_in_bytes_and_time(
    kept: kept_html._Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [0.0]
    monkeypatch.setattr("sealdesk.tickets.text.kept_html.time.monotonic", lambda: now_s[0])
    monkeypatch.setattr(kept_html, "_MAX_BYTES", 5_000)
    for number in range(9):
        kept.add(b"%d" % number, markdown.Rendered("x" * 1_000))
    assert [number for number in range(9) if kept.find(b"%d" % number)] == [6, 7, 8]
    now_s[0] = kept_html._MAX_UNUSED_S + 1
    kept.add(b"new", markdown.Rendered("y"))
    assert [*kept._entries] == [b"new"]
    assert kept._bytes == kept_html._size(markdown.Rendered("y"))


def test_a_page_of_long_texts_renders_none_of_them_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, desk = tenant.key(), logged_in(tenant)
    ticket = key.ticket(description="The *first* of the texts. " * 20)
    for number in range(14):
        body = f"Reply *{number}* to a@b.test. " * 20
        assert key.post(
            f"/api/v1/external/tickets/{ticket['id']}/replies", {"body": body}
        ).is_success
    rendered: list[str] = []

    def counted(text: str, is_folded: bool, look: Look) -> markdown.Rendered:
        rendered.append(text)
        return markdown.render(text, is_folded, look)

    monkeypatch.setattr(kept_html, "render", counted)
    pages = [desk.get(f"/tickets/{ticket['id']}").answer.text for _ in range(2)]
    assert len(rendered) == 15
    assert [page.count("<em>13</em>") for page in pages] == [20, 20]
