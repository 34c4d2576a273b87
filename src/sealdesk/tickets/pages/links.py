"""Text that people wrote, as text: addresses in it become links, and nothing else is taken for
HTML."""

import re
from collections.abc import Iterator
from itertools import islice

from markupsafe import Markup, escape

# Up to white space, quotes, angle brackets, and what is not seen: controls and turned text.
_ADDRESS = re.compile(
    r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+",
    re.IGNORECASE,
)
_MOST = 2048  # longer ones lead nowhere, and a text may be one address of 64 KiB
_LINKS = 200  # of a text that may be 8,000 addresses; what comes after them is text like all else
_ENDS = ".,;:!?'*_~"
_TAIL = 50  # of such signs; what ends with more of them is no address in a sentence
_PAIRS = {")": "(", "]": "[", "}": "{"}


def linked(text: str) -> Markup:
    """HTML of a text, with links where it holds addresses."""
    return Markup("".join(_parts(text)))  # noqa: S704 - each part is escaped


def _parts(text: str) -> Iterator[str]:
    after = 0
    for found in islice(_ADDRESS.finditer(text), _LINKS):
        if len(found[0]) > _MOST:
            continue
        address = _address(found[0])
        if not address or address.endswith("://"):
            continue
        yield escape(text[after : found.start()])
        shown = escape(address)
        yield f'<a href="{shown}" rel="noopener noreferrer" target="_blank">{shown}</a>'
        after = found.start() + len(address)
    yield escape(text[after:])


def _address(found: str) -> str:
    """Without the punctuation of the sentence around it; "" when that is nearly all of it."""
    # How many more of each pair are closed than opened: counted once, or many cost their square.
    closed = {last: found.count(last) - found.count(first) for last, first in _PAIRS.items()}
    for end in range(len(found), max(0, len(found) - _TAIL), -1):
        last = found[end - 1]
        if last not in _ENDS and closed.get(last, 0) <= 0:
            return found[:end]
        if last in closed:
            closed[last] -= 1
    return ""
