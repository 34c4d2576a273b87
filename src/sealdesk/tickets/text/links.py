"""Escapes text that people wrote, and turns the http addresses in it into links.

Jinja's urlize was measured and not taken: decision 0024.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from markupsafe import Markup, escape

# Ends at white space, quotes, angle brackets, control characters and bidirectional controls.
_URL = re.compile(
    r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+",
    re.IGNORECASE,
)
REL = "nofollow noopener noreferrer"
_MAX_URL_LENGTH = 2048  # a text may be one URL of 64 KiB
_MAX_LINKS = 200  # a text may hold 8,000 URLs
_PUNCTUATION = ".,;:!?'*_~"
_MAX_PUNCTUATION = 50  # a URL with more of it at its end is not linked
_PAIRS = {")": "(", "]": "[", "}": "{"}


class Link(NamedTuple):
    """A URL in a text: text[start:end]."""

    start: int
    end: int
    url: str


def link_urls(text: str) -> Markup:
    """HTML of a text, with its URLs as links."""
    return Markup("".join(_parts(text)))  # noqa: S704 - each part is escaped


def plain_html(text: str) -> str:
    """HTML of a text as it is, without Markdown."""
    return f"<p>{link_urls(text)}</p>".replace("\n", "<br>")


def find_urls(text: str) -> Iterator[Link]:
    """The URLs of a text that are to be links, without the punctuation around them."""
    for match in islice(_URL.finditer(text), _MAX_LINKS):
        if len(match[0]) > _MAX_URL_LENGTH:
            continue
        url = _strip_punctuation(match[0])
        if url and not url.endswith("://"):
            yield Link(match.start(), match.start() + len(url), url)


def _parts(text: str) -> Iterator[str]:
    end = 0
    for link in find_urls(text):
        yield escape(text[end : link.start])
        escaped = escape(link.url)
        yield f'<a href="{escaped}" rel="{REL}" target="_blank">{escaped}</a>'
        end = link.end
    yield escape(text[end:])


def _strip_punctuation(url: str) -> str:
    """The URL without the punctuation of the sentence around it; "" when there is too much."""
    # How many brackets of each kind are closed but not opened. Counted once: linear time.
    unopened = {last: url.count(last) - url.count(first) for last, first in _PAIRS.items()}
    for end in range(len(url), max(0, len(url) - _MAX_PUNCTUATION), -1):
        last = url[end - 1]
        if last not in _PUNCTUATION and unopened.get(last, 0) <= 0:
            return url[:end]
        if last in unopened:
            unopened[last] -= 1
    return ""
