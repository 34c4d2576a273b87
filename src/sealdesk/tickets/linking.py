"""Text that people wrote, as text: addresses in it become links, and nothing else is taken for
HTML."""

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

# Up to white space, quotes, angle brackets, and what is not seen: controls and turned text.
_ADDRESS = re.compile(
    r"https?://[^\s<>\"\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+",
    re.IGNORECASE,
)
_MOST = 2048  # longer ones lead nowhere, and a text may be one address of 64 KiB
_ENDS = ".,;:!?'*_~"
_PAIRS = {")": "(", "]": "[", "}": "{"}


def linked(text: str) -> Markup:
    """HTML of a text, with links where it holds addresses."""
    return Markup("".join(_parts(text)))  # noqa: S704 - each part is escaped


def _parts(text: str) -> Iterator[str]:
    after = 0
    for found in _ADDRESS.finditer(text):
        if len(found[0]) > _MOST:
            continue
        address = _address(found[0])
        if address.endswith("://"):
            continue
        yield escape(text[after : found.start()])
        shown = escape(address)
        yield f'<a href="{shown}" rel="noopener noreferrer" target="_blank">{shown}</a>'
        after = found.start() + len(address)
    yield escape(text[after:])


def _address(found: str) -> str:
    """Without the punctuation of the sentence around it."""
    end = len(found)
    while end:
        last = found[end - 1]
        opens = _PAIRS.get(last)
        is_closing = opens is not None and found.count(last, 0, end) > found.count(opens, 0, end)
        if last not in _ENDS and not is_closing:
            break
        end -= 1
    return found[:end]
