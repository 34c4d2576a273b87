"""Renders Markdown (CommonMark) that people wrote as safe HTML, within a bound of work.

What takes too many steps is shown as plain text instead, as a whole: nothing is left out. Decision
0047 has the measurements.
"""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from sealdesk.db import threads
from sealdesk.tickets.text.arrangement import Look, arrange
from sealdesk.tickets.text.links import REL, link_urls
from sealdesk.tickets.text.mentions import Names
from sealdesk.tickets.text.references import find_references, texts_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_STEPS = 30_000  # 30 to 200 ms (2026-11-22); 64 KiB of prose take 20,000
_MENTION_STEPS = 2000  # at most 20 ms (2026-11-26), as they are taken in a transaction
_STEPS_PER_LINE = 4
_MAX_NESTING = 24  # the parser leaves out what is nested deeper, so that is plain text
_MAX_GROWTH = 12  # of a text that is made of links
_MAX_LINKS = 500
_IN_THREAD_LENGTH = 256  # 1 ms; 4 KiB of markup take 20 ms (2026-11-26)
# One thread, so that the event loop waits for one other thread at most.
_THREAD = ThreadPoolExecutor(1, thread_name_prefix="markdown")
_CACHED_BYTES, _BYTES_OF_CHAR = 16 * 1024 * 1024, 2
_MAX_SLICE_S = 0.0005
_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_TAGS = set(
    """
    a blockquote br code details em h1 h2 h3 h4 h5 h6 hr li ol p pre strong summary ul
""".split()
)


_Key = tuple[str, str | None, str]


class _TooComplex(Exception):
    """The text takes too many steps, or is nested too deep."""


class Rendered(NamedTuple):
    """The HTML of a text, and the steps that it took."""

    html: Markup
    steps: int


async def render_all(texts: Iterable[str], look: Look) -> list[Markup]:
    """The HTML of texts: their Markdown, or the text itself where that takes too many steps.

    Long ones are rendered beside the event loop. What depends on nobody who looks is kept.
    """
    return [rendered.html async for rendered in render_each(texts, look)]


async def render_each(texts: Iterable[str], look: Look) -> AsyncIterator[Rendered]:
    """The same one by one, with the steps that each took."""
    began_s = time.perf_counter()
    for text in texts:
        rendered = _kept.find(text, look)
        if rendered is None:
            rendered = await _render_beside(text, look)
            _kept.add(text, look, rendered)
        yield rendered
        if time.perf_counter() - began_s > _MAX_SLICE_S:
            await asyncio.sleep(0)
            began_s = time.perf_counter()


async def _render_beside(text: str, look: Look) -> Rendered:
    if len(text) <= _IN_THREAD_LENGTH:
        return _render(text, look)
    return await threads.run_in(_THREAD, _render, text, look)


class _Kept:
    """The HTML of the texts that were shown last, up to a number of bytes.

    A text that may mention somebody is not kept, because others may not know the name.
    """

    def __init__(self) -> None:
        self._rendered: OrderedDict[_Key, Rendered] = OrderedDict()
        self._bytes = 0

    def find(self, text: str, look: Look) -> Rendered | None:
        key = _key_of(text, look)
        rendered = None if key is None else self._rendered.get(key)
        if key is not None and rendered is not None:
            self._rendered.move_to_end(key)
        return rendered

    def add(self, text: str, look: Look, rendered: Rendered) -> None:
        key = _key_of(text, look)
        if key is None:
            return
        if key not in self._rendered:
            self._bytes += _size(text, rendered)
        self._rendered[key] = rendered
        while self._bytes > _CACHED_BYTES:
            (old, *_), dropped = self._rendered.popitem(last=False)
            self._bytes -= _size(old, dropped)


def _key_of(text: str, look: Look) -> _Key | None:
    return None if "@" in text and look.names else (text, look.root, look.quote_label)


def _size(text: str, rendered: Rendered) -> int:
    return _BYTES_OF_CHAR * (len(text) + len(rendered.html))


_kept = _Kept()


def _render(text: str, look: Look) -> Rendered:
    env = _env()
    try:
        parser = _parser()
        parsed = parser.parse(text, env)
        _check_links(parsed)
        tokens = arrange(parsed, look)
        html = parser.renderer.render(tokens, parser.options, env)
        if len(html) > _MAX_GROWTH * len(text) + 1000:
            raise _TooComplex
    except _TooComplex:
        return Rendered(_plain(text), env["steps"])
    return Rendered(Markup(_sanitize(html)), env["steps"])  # noqa: S704 - sanitised


def mentioned_ids(text: str, names: Names) -> list[str]:
    """The users whom a text mentions, each once; not those in its code and its links.

    Of a text that takes too many steps, those in its code too.
    """
    if "@" not in text or not names:
        return []
    try:
        tokens = _parser().parse(text, _env(MAX_STEPS - _MENTION_STEPS, only_with="@"))
        texts = [each.content for token in tokens for each in texts_of(token.children or ())]
    except _TooComplex:
        texts = [text]
    found = (each.user_id for part in texts for each in find_references(part, names, ""))
    return [*dict.fromkeys(filter(None, found))]


def _check_links(tokens: Sequence["Token"]) -> None:
    children = [child for token in tokens for child in token.children or ()]
    if sum(child.type == "link_open" for child in children) > _MAX_LINKS:
        raise _TooComplex


def _env(steps: int = 0, only_with: str = "") -> dict[str, Any]:
    """only_with: what a paragraph must contain to be parsed."""
    return {"steps": steps, "only_with": only_with}


def _plain(text: str) -> Markup:
    return Markup("<p>") + link_urls(text).replace("\n", Markup("<br>")) + Markup("</p>")


def _sanitize(html: str) -> str:
    # Imported late: 4 ms that a start without pages saves (2026-11-22).
    import nh3

    return nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href", "title", "target"}, "ol": {"start"}},
        url_schemes={"http", "https"},
        link_rel=REL,
    )


@cache
def _parser() -> "MarkdownIt":
    # Imported late: 25 ms that a start without pages saves (2026-11-22).
    from markdown_it import MarkdownIt
    from markdown_it.parser_inline import ParserInline

    class CountingInline(ParserInline):
        """Also counts the steps that the parser takes from its cache."""

        def parse(self, src: str, md: Any, env: Any, tokens: Any) -> Any:
            return super().parse(src, md, env, tokens) if env["only_with"] in src else tokens

        def skipToken(self, state: Any) -> None:
            _count(state.env, 1)
            super().skipToken(state)

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 2 * _MAX_NESTING})
    rules = parser.inline.ruler.get_active_rules()
    parser.inline = CountingInline()
    parser.inline.ruler.enableOnly(rules)
    parser.inline.ruler2.enableOnly(["balance_pairs", "emphasis", "fragments_join"])
    parser.inline.ruler.before("text", "count", _count_token)
    # Definitions of links are invisible: a text must not hide anything from its reader.
    parser.block.ruler.disable("reference")
    parser.block.ruler.before("code", "count", _count_line, {"alt": _ALL_BLOCKS})
    # Replacing this method is how markdown-it-py is told which links are allowed.
    parser.validateLink = lambda url: _HTTP.match(url) is not None  # type: ignore[method-assign]
    for kind in ("softbreak", "hardbreak"):
        parser.add_render_rule(kind, _break)
    return parser


_ALL_BLOCKS = ["paragraph", "reference", "blockquote", "list"]


def _count(env: Any, steps: int) -> None:
    env["steps"] += steps
    if env["steps"] > MAX_STEPS:
        raise _TooComplex


def _count_token(state: Any, silent: bool) -> bool:
    _count(state.env, 1)
    return False


def _count_line(state: Any, start: int, end: int, silent: bool) -> bool:
    _count(state.env, _STEPS_PER_LINE)
    if state.level >= _MAX_NESTING:
        raise _TooComplex
    return False


def _break(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    # Without the end of the line, which pages would show as a second one.
    return "<br>"
