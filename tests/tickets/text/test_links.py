"""Texts are escaped, and only their URLs become links."""

import re

from sealdesk.tickets.text.links import link_urls
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS


def _link(address: str) -> str:
    return f'<a href="{address}" rel="nofollow noopener noreferrer" target="_blank">{address}</a>'


@for_each(
    ("text", "address", "after"),
    [
        ("https://example.test", "https://example.test", ""),
        ("HTTP://EXAMPLE.test/A", "HTTP://EXAMPLE.test/A", ""),
        ("https://example.test/a.", "https://example.test/a", "."),
        ("https://example.test/a?b=c!?", "https://example.test/a?b=c", "!?"),
        ("https://example.test/a).", "https://example.test/a", ")."),
        ("https://example.test/a_(b)", "https://example.test/a_(b)", ""),
        ("https://example.test/a_(b))", "https://example.test/a_(b)", ")"),
        ("https://example.test/a,\nnext", "https://example.test/a", ",\nnext"),
        ("https://example.test/ö", "https://example.test/ö", ""),
        ("https://example.test/a\u202egnp", "https://example.test/a", "\u202egnp"),
    ],
)
def test_a_url_is_a_link_without_the_punctuation_around_it(
    text: str, address: str, after: str
) -> None:
    assert link_urls(f"See {text}") == f"See {_link(address)}{after}"


@for_each(
    "text",
    [
        "javascript:alert(1)", "data:text/html,x", "ftp://example.test", "www.example.test",
        "https://", "https://.", "//example.test", "mailto:a@example.test", "",
        "https://" + "a" * 3000,
    ],
)  # fmt: skip
def test_only_http_urls_are_links(text: str) -> None:
    assert link_urls(text) == text


@for_each("text", HOSTILE_TEXTS)
def test_hostile_text_stays_text(text: str) -> None:
    for whole in (text, f"https://example.test/{text}", f"{text}https://example.test"):
        shown = str(link_urls(whole))
        assert "<script" not in shown and "<img" not in shown and "<svg" not in shown
        assert shown.count("<") == shown.count(">") == 2 * shown.count("<a href=")
        assert shown.count('"') == 6 * shown.count("<a href=")


def test_the_number_of_links_is_limited_and_all_text_is_shown() -> None:
    text = "https://a.test/((( " * 3400
    shown = str(link_urls(text))
    assert shown.count("<a ") == 200
    assert re.sub("<[^>]+>", "", shown) == text


def test_a_url_with_too_much_punctuation_is_not_a_link() -> None:
    for tail in (")" * 60, "." * 2000, "?!" * 30, ")" * 65_000):
        assert link_urls(f"https://a.test{tail}") == f"https://a.test{tail}"
    assert "<a " in link_urls(f"https://a.test{')' * 40}")
