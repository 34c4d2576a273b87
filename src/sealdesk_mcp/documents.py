"""What a language model reads of tickets, replies and customers: bounded, without empty members."""

from collections.abc import Mapping
from typing import Any

import msgspec

# Results go into the context of a language model, which is small and costs money: a page of 50
# tickets is then about 50 KiB, and a ticket with 50 replies at most 230 KiB.
MAX_ROWS = 50
_LISTED_CHARACTERS = 500
_WHOLE_CHARACTERS = 4000
_TEXTS = ("description", "body")
Document = dict[str, Any]


def listed(row: msgspec.Struct) -> Document:
    """Return a row of a list, whose long texts are cut after 500 characters."""
    return _to_document(row, _LISTED_CHARACTERS)


def whole(row: msgspec.Struct) -> Document:
    """Return an object by itself, whose long texts are cut after 4,000 characters."""
    return _to_document(row, _WHOLE_CHARACTERS)


def _to_document(row: msgspec.Struct, max_characters: int) -> Document:
    document: Mapping[str, Any] = msgspec.to_builtins(row)
    kept = {name: value for name, value in document.items() if value not in (None, [], {})}
    for name in _TEXTS:
        text = kept.get(name, "")
        if len(text) > max_characters:
            left_out = len(text) - max_characters
            kept[name] = f"{text[:max_characters]} … [{left_out:,} characters are left out]"
    return kept
