"""Renders Markdown (CommonMark) that people wrote as safe HTML, within a bound of work.

What takes too many steps is shown as plain text instead, as a whole: nothing is left out. Decision
0047 has the measurements.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from sealdesk.tickets.text.arrangement import Look, arrange
from sealdesk.tickets.text.links import REL, plain_html
from sealdesk.tickets.text.mentions import Name, Names
from sealdesk.tickets.text.quotes import fold
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
_MAX_WORDS = 200
_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_TAGS = set(
    """
    a blockquote br code details em h1 h2 h3 h4 h5 h6 hr li ol p pre strong summary ul
""".split()
)


class _TooComplex(Exception):
    """The text takes too many steps, or is nested too deep."""


class Rendered(NamedTuple):
    """The safe HTML of a text, and the steps that it took.

    quoted: that of its end, which is folded. words: with which mentions of it would begin.
    """

    html: str
    quoted: str = ""
    steps: int = 0
    words: tuple[str, ...] = ()


class Job(NamedTuple):
    """What is to be rendered.

    is_folded: whether the quotes and the signature at its end are apart.
    """

    text: str
    is_folded: bool
    look: Look


def render(text: str, is_folded: bool, look: Look) -> Rendered:
    """The HTML of a text: its Markdown, or the text itself where that takes too many steps."""
    visible, rest = fold(text) if is_folded else (text, "")
    asked = _AskedNames(look.names)
    html, steps = _render(visible, look._replace(names=asked))
    # What is folded as a whole has no quotes that are folded again.
    quoted, more = _render(rest, look._replace(names=asked, quote_label="")) if rest else ("", 0)
    return Rendered(html, quoted, steps + more, (*asked.words,))


class _AskedNames(Mapping[str, tuple[Name, ...]]):
    """Names of users, and the first words of those that a text may mention."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self.words: dict[str, None] = {}

    def __getitem__(self, word: str) -> tuple[Name, ...]:
        if len(self.words) < _MAX_WORDS:
            self.words[word] = None
        return self._names[word] if word in self.words else ()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _render(text: str, look: Look) -> tuple[str, int]:
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
        return plain_html(text), env["steps"]
    return _sanitize(html), env["steps"]


FUNCTION = f"{__name__}:render_for_parent"


def render_for_parent(data: bytes) -> bytes:
    """What a child process answers: Rendered, and the nanoseconds of its processor."""
    began_ns = time.process_time_ns()
    rendered = render(*msgspec.msgpack.decode(data, type=Job))
    return msgspec.msgpack.encode((rendered, time.process_time_ns() - began_ns))


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
