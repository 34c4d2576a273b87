"""Marks in a text what a search has found in it, and cuts out the part around it; no IO."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sealdesk.search import rules
from sealdesk.search.rules import Term

_MAX_LENGTH = 4000  # characters of a text that are looked at
_MAX_HITS = 20
_BEFORE = 30  # characters of a snippet before its first hit
_SNIPPET_LENGTH = 100
_SPACES = re.compile(r"\s+")


class Part(NamedTuple):
    """A part of a text. is_hit: it is what was searched for."""

    text: str
    is_hit: bool


def mark(text: str, terms: Sequence[Term]) -> list[Part]:
    """The whole text in parts."""
    return [*_parts(text, _hits(text, terms))]


def snippet(text: str, terms: Sequence[Term]) -> list[Part]:
    """One line around the first hit in a text; empty when there is none."""
    plain = _SPACES.sub(" ", text[:_MAX_LENGTH]).strip()
    hits = _hits(plain, terms)
    if not hits:
        return []
    first_hit = hits[0][0]
    near = max(0, first_hit - _BEFORE)
    start = (plain.find(" ", near, first_hit) + 1 or near) if near else 0  # no half words
    end = start + _SNIPPET_LENGTH
    inside = [(first - start, last - start) for first, last in hits if last <= end]
    parts = [*_parts(plain[start:end], inside)]
    before = [Part("… ", is_hit=False)] if start else []
    return [*before, *parts, *([Part(" …", is_hit=False)] if end < len(plain) else [])]


def _hits(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Where the words of the terms stand, up to 20 of them."""
    phrases = [{*term.words} for term in terms if not term.is_not]
    wanted = set().union(*phrases)
    prefixes = tuple(term.words[-1] for term in terms if term.is_prefix)
    known: dict[str, bool] = {}
    hits = []
    for match in rules.TOKEN.finditer(text, 0, _MAX_LENGTH):
        token = match[0]
        if token not in known:
            words = rules.split_words(token)
            is_hit = any(w in wanted or w.startswith(prefixes or ("\0",)) for w in words)
            # One of many characters of a phrase is no hit.
            known[token] = is_hit and (len(words) == 1 or any(map({*words}.issuperset, phrases)))
        if known[token]:
            hits.append(match.span())
            if len(hits) == _MAX_HITS:
                break
    return hits


def _parts(text: str, hits: Sequence[tuple[int, int]]) -> Iterator[Part]:
    end = 0
    for first, last in hits:
        if first > end:
            yield Part(text[end:first], is_hit=False)
        yield Part(text[first:last], is_hit=True)
        end = last
    if end < len(text):
        yield Part(text[end:], is_hit=False)
