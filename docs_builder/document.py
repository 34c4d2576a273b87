"""A page parsed as CommonMark, as GitHub reads it: its headings, anchors and texts for search."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable("table")
_OWN_ID = re.compile(r"\s*\{#([\w-]+)\}$")
_HTML_ID = re.compile(r'\bid="([^"]+)"')
_MAX_TEXT = 2_000  # characters of a section in the search index


class Heading(NamedTuple):
    """A heading; text: without markup."""

    level: int
    anchor: str
    text: str


class Section(NamedTuple):
    """The text below a heading, for the search index."""

    heading: Heading
    text: str


class Document:
    """A parsed page.

    headings: each with a unique anchor; `{#id}` at its end sets the anchor.
    sections: the page by its headings, with the beginning of each text.
    """

    def __init__(self, markdown: str) -> None:
        self.tokens: list[Token] = _PARSER.parse(markdown)
        self.headings: list[Heading] = [*self._name_headings()]
        self.anchors: set[str] = {heading.anchor for heading in self.headings}
        for token in self.tokens:
            if token.type == "html_block":
                self.anchors.update(_HTML_ID.findall(token.content))
        # Now, because rendering replaces inline tokens.
        self.sections: list[Section] = self._read_sections()

    @property
    def title(self) -> str:
        """The text of the first heading."""
        return self.headings[0].text

    @property
    def lead(self) -> str:
        """The first sentence of the first paragraph, as text."""
        text = next((each.text for each in self.sections if each.text), "")
        return re.split(r"(?<=[.:])\s", text, maxsplit=1)[0]

    def _read_sections(self) -> list[Section]:
        headings, texts = iter(self.headings), []
        for token, following in zip(self.tokens, [*self.tokens[1:], None], strict=True):
            if token.type == "heading_open":
                texts.append((next(headings), list[str]()))
            elif token.type == "inline" and texts and following and following.type[:7] != "heading":
                texts[-1][1].append(plain_text(token))
        return [Section(heading, " ".join(found)[:_MAX_TEXT]) for heading, found in texts]

    def _name_headings(self) -> Iterator[Heading]:
        seen: dict[str, int] = {}
        for opening, inline in zip(self.tokens, self.tokens[1:], strict=False):
            if opening.type != "heading_open":
                continue
            anchor = _take_own_id(inline)
            text = plain_text(inline)
            if anchor is None:
                anchor = slug(text)
                count = seen[anchor] = seen.get(anchor, -1) + 1
                anchor = f"{anchor}-{count}" if count else anchor
            opening.attrSet("id", anchor)
            yield Heading(int(opening.tag[1]), anchor, text)


def slug(text: str) -> str:
    """The anchor that GitHub gives a heading."""
    kept = (c for c in text.lower() if c in " -_" or unicodedata.category(c)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


def plain_text(inline: Token) -> str:
    """The text of an inline token without its markup."""
    breaks = {"softbreak": " ", "hardbreak": " "}
    parts = (
        breaks.get(child.type, child.content if child.type in ("text", "code_inline") else "")
        for child in inline.children or ()
    )
    return "".join(parts).strip()


def _take_own_id(inline: Token) -> str | None:
    """The anchor of `{#id}`, which is removed from the heading."""
    last = inline.children[-1] if inline.children else None
    match = _OWN_ID.search(last.content) if last and last.type == "text" else None
    if last is None or match is None:
        return None
    last.content = last.content[: match.start()]
    return match[1]
