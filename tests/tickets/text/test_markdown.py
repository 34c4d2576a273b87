"""Markdown of people as HTML: what it may contain, and that no text takes long or is lost."""

import re
from html import unescape

import pytest

from sealdesk.tickets.text import markdown
from sealdesk.tickets.text.arrangement import Look
from sealdesk.tickets.text.links import REL
from sealdesk.tickets.text.mentions import Names, index_names
from tests.browser.xss_texts import CHOSEN
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS

NAMES = index_names(
    [("1", "Eve Miller"), ("2", "Ada"), ("3", "Bob Ames"), ("4", "Bob Byrd"), ("5", "Ímir Öz")]
)
PAGE = Look(root="/desk", names=NAMES, quote_label="Quoted text")
_TAG = re.compile(r"<(/?)([a-z0-9]+)([^<>]*)>")
_ATTRIBUTES = re.compile(
    r'( (href|title|rel|target|start)="[^"<>]*")*', re.ASCII
)  # of links and lists
LONG = 65_536
# Each takes long in some parser of Markdown, repeated up to the longest text.
SLOW = {
    "quotes": ">", "spaced quotes": "> > > > x\n", "brackets": "[", "links": "[a](",
    "empty links": "[]", "titles": '[a](b "', "destinations": "[a](<b", "images": "![",
    "emphasis": "*a_ ", "strong": "**a ", "underscores": "_a", "code": "`a``b```c", "tags": "<a ",
    "entities": "&", "items": "-\n", "lines": "a\n", "definitions": "[a]: b\n", "numbers": "#1 ",
    "mentions": "@ada ", "escapes": "\\", "headings": "#\n", "setext": "a\n=\n", "rules": "---\n",
    "autolinks": "<http://a.b>", "ordered": "1. a\n", "breaks": "a  \n", "cdata": "<![CDATA[",
}  # fmt: skip


def shown(text: str, look: Look = PAGE) -> str:
    return markdown.render(text, False, look).html


def read(html: str) -> str:
    """The text that a reader sees."""
    return unescape(_TAG.sub("", html))


@for_each(
    ("text", "html"),
    [
        ("*a* **b** `c`", "<p><em>a</em> <strong>b</strong> <code>c</code></p>"),
        ("one\n  two", "<p>one<br>two</p>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("2. a", '<ol start="2">\n<li>a</li>\n</ol>'),
        ("```py\na < b #1 @ada\n```", "<pre><code>a &lt; b #1 @ada\n</code></pre>"),
        ("# A\n\n###### B", "<h3>A</h3>\n<h3>B</h3>"),
        ("#\n\nA", "<p>A</p>"),
        ("> a", "<blockquote>\n<p>a</p>\n</blockquote>"),
        ("#12, #1a", f'<p><a href="/desk/tickets/12" rel="{REL}">#12</a>, #1a</p>'),
        ("Ask @Eve Miller.", "<p>Ask <strong>@Eve Miller</strong>.</p>"),
        ("[a]: http://x", f'<p>[a]: <a href="http://x" target="_blank" rel="{REL}">http://x</a></p>'),
    ],
)  # fmt: skip
def test_commonmark_is_rendered(text: str, html: str) -> None:
    assert shown(text).strip() == html


def test_a_long_quote_is_folded() -> None:
    html = shown("> a\n> b\n> c\n> d\n\nAnswer")
    assert html.startswith("<details><summary>Quoted text</summary><blockquote>")
    assert html.index("</details>") < html.index("Answer")
    assert "details" not in shown("> a\n> b\n> c\n> d", Look(root=""))


def test_outside_of_pages_only_urls_are_links() -> None:
    html = shown("# T\n\n#12 @ada https://x.test", Look())
    assert html.startswith("<h1>T</h1>\n<p>#12 @ada <a ")


def test_links_elsewhere_say_where_they_lead() -> None:
    html = shown("[Our bank](https://evil.test/a)")
    assert 'href="https://evil.test/a"' in html and 'title="https://evil.test/a"' in html
    assert 'rel="nofollow noopener noreferrer"' in html and 'target="_blank"' in html


def test_images_are_links() -> None:
    html = shown("![A bowl](https://x.test/a.png) [![B](https://x.test/b.png)](https://y.test)")
    assert "<img" not in html
    assert '<a href="https://x.test/a.png"' in html and ">A bowl</a>" in html
    assert html.count("<a ") == 2


@for_each(
    "href",
    [
        "javascript:alert(1)", "JAVASCRIPT:alert(1)", "java&#115;cript:alert(1)",
        "javascript&colon;alert(1)", "data:text/html,<b>", "data:image/png;base64,AA",
        "vbscript:x", "file:///etc/passwd", "/log-out", "//evil.test", "\\\\evil.test",
        "mailto:a@b.c", "http:javascript:alert(1)", "tickets/1",
    ],
)  # fmt: skip
def test_other_addresses_than_http_are_no_links(href: str) -> None:
    for text in (f"[x]({href})", f"[x](<{href}>)", f"![x]({href})", f"<{href}>"):
        assert "href" not in shown(text)
        assert "<img" not in shown(text)


def test_the_sanitiser_alone_lets_no_script_through() -> None:
    """It is the second barrier: it holds if the parser has a fault."""
    for html in (
        '<a href="javascript:alert(1)">x</a>', '<img src="https://x.test/a.png">',
        '<p onclick="alert(1)" style="color:red">x</p>', "<script>alert(1)</script>",
        '<a href="data:text/html,x">x</a>', "<iframe srcdoc=x></iframe>",
    ):  # fmt: skip
        cleaned = markdown._sanitize(html)
        assert not re.search(r"script|img|onclick|style|data:|iframe|alert", cleaned), cleaned


@for_each("text", [*HOSTILE_TEXTS, *CHOSEN, "\n".join(CHOSEN)])
def test_hostile_texts_leave_no_element_of_theirs(text: str) -> None:
    for around in ("{}", "> {}", "- {}", "`{}`", "[{}](https://x.test)", "[x]({})", "*{}*", "# {}"):
        html = shown(around.replace("{}", text))
        left = _TAG.sub("", html)
        assert "<" not in left and ">" not in left
        for _, tag, attributes in _TAG.findall(html):
            assert tag in markdown._TAGS
            assert _ATTRIBUTES.fullmatch(attributes), attributes
        assert all(
            re.match(r"(?i)https?://|/desk/tickets/\d+$", unescape(href))
            for href in re.findall(r'href="([^"]*)"', html)
        )


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.prove)])
@for_each("name", SLOW)
def test_no_text_takes_more_steps_than_allowed(
    name: str, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the longest text and of all steps, a share."""
    steps, count, max_steps, long = [0], markdown._count, markdown.MAX_STEPS // share, LONG // share

    def counted(env: dict[str, int], more: int) -> None:
        steps[0] += more
        count(env, more)

    text = SLOW[name] * (long // len(SLOW[name]))
    with monkeypatch.context() as patched:  # all names share the fixture
        patched.setattr(markdown, "_count", counted)
        patched.setattr(markdown, "MAX_STEPS", max_steps)
        html = shown(text)
    assert steps[0] <= max_steps + 10
    assert len(html) <= 13 * long
    letters = re.sub(r"\W", "", text)
    assert re.sub(r"\W", "", read(html))[:1000] == letters[:1000]


def test_what_takes_too_many_steps_is_shown_as_it_is() -> None:
    text = "[<b>&\n" * 9000
    assert read(shown(text).replace("<br>", "\n")) == text


def test_what_is_nested_too_deep_is_not_left_out() -> None:
    text = "> " * 100 + "the end"
    assert "the end" in shown(text)
    assert "the end" in shown("".join(f"{' ' * 2 * n}- a\n" for n in range(60)) + "the end")


def test_long_prose_is_rendered() -> None:
    text = "The *glaze* - on my order, no. 12: arrived cracked!\n" * 1250
    assert shown(text).count("<em>glaze</em>") == 1250


@for_each(
    ("text", "found"),
    [
        ("@Eve Miller", ["1"]), ("@eve miller, @ADA", ["1", "2"]), ("@eve", ["1"]),
        ("@Evelyn", []), ("@Bob", []), ("@Bob Ames and @bob byrd", ["3", "4"]),
        ("a@ada.test", []), ("ada@eve", []), ("`@ada`", []), ("@ada @ada", ["2"]),
        ("@ímir öz", ["5"]), ("@", []), ("```\n@ada\n```", []), ("[@ada](https://x.test)", []),
        ("https://x.test/@ada", []), ("**@ada**", ["2"]), ("(@ada)", ["2"]), ("@ada's", []),
    ],
)  # fmt: skip
def test_mentions_name_users(text: str, found: list[str]) -> None:
    assert markdown.mentioned_ids(text, NAMES) == found


def test_users_of_the_same_name_cannot_be_mentioned() -> None:
    names: Names = index_names([("1", "Eve Miller"), ("2", "Eve Miller"), ("3", "—")])
    assert markdown.mentioned_ids("@Eve Miller @Eve @—", names) == []


def test_mentions_are_found_in_a_text_that_is_too_complex() -> None:
    assert markdown.mentioned_ids("@ada " + "[" * LONG, NAMES) == ["2"]
