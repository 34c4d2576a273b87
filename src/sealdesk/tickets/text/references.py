"""Finds URLs, ticket numbers and mentions in the texts of parsed Markdown, but not in its code."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from sealdesk.tickets.text.links import find_urls
from sealdesk.tickets.text.mentions import Names, find_mentions

if TYPE_CHECKING:
    from markdown_it.token import Token

_NUMBER = re.compile(r"(?<![\w#&/])#([1-9][0-9]{0,17})(?!\w)", re.ASCII)
_MAX_NUMBERS = 100


class Reference(NamedTuple):
    """A part of a text that leads elsewhere, or names a user if href is empty."""

    start: int
    end: int
    href: str
    user_id: str = ""


def find_references(text: str, names: Names, root: str | None) -> list[Reference]:
    """Without overlaps, in the order of the text. root: of the pages, None for URLs only."""
    found = [Reference(link.start, link.end, link.url) for link in find_urls(text)]
    if root is None:
        return found
    for match in islice(_NUMBER.finditer(text), _MAX_NUMBERS):
        found.append(Reference(match.start(), match.end(), f"{root}/tickets/{match[1]}"))
    for mention in find_mentions(text, names):
        found.append(Reference(mention.start, mention.end, "", mention.user_id))
    found.sort()
    kept: list[Reference] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def texts_of(tokens: Sequence["Token"]) -> Iterator["Token"]:
    """The tokens of text that are within no link."""
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type.startswith("link_") else 0
        if token.type == "text" and depth == 0:
            yield token


def link_references(tokens: list["Token"], names: Names, root: str | None) -> list["Token"]:
    """The tokens of a paragraph, in which references have become links and names."""
    linked: list[Token] = []
    plain = {id(token) for token in texts_of(tokens)}
    for token in tokens:
        linked += _split(token, names, root) if id(token) in plain else [token]
    return linked


def made_link(href: str, label: str) -> Iterator["Token"]:
    """The tokens of a link."""
    yield _tag("link_open", "a", {"href": href})
    yield text_token(label)
    yield _tag("link_close", "a")


def text_token(content: str) -> "Token":
    """The token of a plain text."""
    return _tag("text", "", content=content)


def _tag(kind: str, tag: str, attrs: dict[str, Any] | None = None, content: str = "") -> "Token":
    # Imported late, as the parser is.
    from markdown_it.token import Token

    nesting: Any = 1 if kind.endswith("_open") else -1 if kind.endswith("_close") else 0
    return Token(kind, tag, nesting, attrs=attrs or {}, content=content)


def _split(token: "Token", names: Names, root: str | None) -> Iterator["Token"]:
    text, end = token.content, 0
    for each in find_references(text, names, root):
        label = text[each.start : each.end]
        yield text_token(text[end : each.start])
        if each.href:
            yield from made_link(each.href, label)
        else:
            yield from (
                _tag("mention_open", "strong"),
                text_token(label),
                _tag("mention_close", "strong"),
            )
        end = each.end
    yield text_token(text[end:])
