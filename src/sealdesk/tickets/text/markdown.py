"""Renders Markdown (CommonMark) that people wrote as safe HTML, within a bound of work.

What takes too many steps is shown as plain text instead, as a whole: nothing is left out. Decision
0047 has the measurements.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from sealdesk.tickets.text.arrangement import Look, arrange
from sealdesk.tickets.text.links import REL, link_urls
from sealdesk.tickets.text.mentions import Names, find_mentions
from sealdesk.tickets.text.references import texts_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_STEPS = 30_000  # 30 to 200 ms (2026-11-22); 64 KiB of prose take 20,000
_STEPS_PER_LINE = 4
_MAX_NESTING = 24  # the parser leaves out what is nested deeper, so that is plain text
_MAX_GROWTH = 12  # of a text that is made of links
_MAX_LINKS = 500
_IN_THREAD_LENGTH = 4 * 1024
# Shorter texts that mention nobody are rendered once; at worst the cache has 16 MiB.
_CACHED_LENGTH = 2 * 1024
_MAX_SLICE_S = 0.002
_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_TAGS = {
    "a", "blockquote", "br", "code", "details", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "li", "ol", "p", "pre", "strong", "summary", "ul",
}  # fmt: skip


class _TooComplex(Exception):
    """The text takes too many steps, or is nested too deep."""


class Rendered(NamedTuple):
    """The HTML of a text, and the steps that it took."""

    html: Markup
    steps: int


def render(text: str, look: Look) -> Markup:
    """The HTML of a text: its Markdown, or the text itself where that takes too many steps."""
    return _render_counted(text, look).html


def _render_counted(text: str, look: Look) -> Rendered:
    if len(text) <= _CACHED_LENGTH and "@" not in text:
        return _render_cached(text, look.root, look.quote_label)
    return _render(text, look)


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


async def render_all(texts: Iterable[str], look: Look) -> list[Markup]:
    """The HTML of texts; long ones are rendered beside the event loop."""
    return [rendered.html async for rendered in render_each(texts, look)]


async def render_each(texts: Iterable[str], look: Look) -> AsyncIterator[Rendered]:
    """The same one by one, with the steps that each took."""
    began_s = time.perf_counter()
    for text in texts:
        if len(text) > _IN_THREAD_LENGTH:
            yield await asyncio.to_thread(_render_counted, text, look)
        else:
            yield _render_counted(text, look)
        if time.perf_counter() - began_s > _MAX_SLICE_S:
            await asyncio.sleep(0)
            began_s = time.perf_counter()


def mentioned_ids(text: str, names: Names) -> list[str]:
    """The users whom a text mentions, each once; not those in its code and its links."""
    if "@" not in text or not names:
        return []
    try:
        tokens = _parser().parse(text, _env())
    except _TooComplex:
        return _distinct(find_mentions(text, names))
    texts = (each for token in tokens for each in texts_of(token.children or ()))
    return _distinct(found for each in texts for found in find_mentions(each.content, names))


def _check_links(tokens: Sequence["Token"]) -> None:
    children = [child for token in tokens for child in token.children or ()]
    if sum(child.type == "link_open" for child in children) > _MAX_LINKS:
        raise _TooComplex


def _env() -> dict[str, Any]:
    return {"steps": 0}


def _distinct(mentions: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(mention.user_id for mention in mentions))


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


@lru_cache(500)
def _render_cached(text: str, root: str | None, quote_label: str) -> Rendered:
    return _render(text, Look(root=root, quote_label=quote_label))


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
