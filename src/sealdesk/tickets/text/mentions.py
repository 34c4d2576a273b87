"""Mentions of users in a text: "@Eve Miller", or "@Eve" where only one user is called Eve."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

_AT = re.compile(r"(?<![\w@.+-])@(?=\w)")
_FIRST_WORD = re.compile(r"[\w'-]+")
_MAX_MENTIONS = 100  # a text may hold 20,000
_MAX_NAMES = 50  # of users with the same first word in their name
_MAX_NAME_LENGTH = 255


class Name(NamedTuple):
    """The name of a user, folded to compare it. is_short: the first word of it alone."""

    folded: str
    user_id: str


class Mention(NamedTuple):
    """A mention in a text: text[start:end], with its "@"."""

    start: int
    end: int
    user_id: str


# The names of the users of a tenant by their folded first word, the longest first.
Names = Mapping[str, tuple[Name, ...]]


def index_names(users: Iterable[tuple[str, str]]) -> Names:
    """(id, name) of users who can be mentioned."""
    names: dict[str, list[Name]] = {}
    for user_id, name in users:
        folded = _fold(name)
        first = _FIRST_WORD.match(folded)
        if first is not None:
            names.setdefault(first[0], []).append(Name(folded, user_id))
    return {first: _with_first_name(first, same) for first, same in names.items()}


def find_mentions(text: str, names: Names) -> Iterator[Mention]:
    """The mentions in a text, in its order; `markdown.mentioned_ids` leaves out its code."""
    for at in islice(_AT.finditer(text), _MAX_MENTIONS):
        start = at.end()
        word = _FIRST_WORD.match(text, start)
        for name in names.get(_fold(word[0]), ()) if word else ():
            end = start + len(name.folded)
            is_whole = not re.match(r"\w", text[end : end + 1])
            if is_whole and _fold(text[start:end]) == name.folded:
                yield Mention(at.start(), end, name.user_id)
                break


def _with_first_name(first: str, same: list[Name]) -> tuple[Name, ...]:
    """Where names are equal, or only the first name is given, nobody is meant for certain."""
    by_text: dict[str, list[Name]] = {}
    for name in same[:_MAX_NAMES]:
        by_text.setdefault(name.folded, []).append(name)
    unique = [alike[0] for alike in by_text.values() if len(alike) == 1]
    unique.sort(key=lambda name: -len(name.folded))
    if len(same) == 1 and same[0].folded != first:
        unique.append(Name(first, same[0].user_id))
    return tuple(unique)


def _fold(text: str) -> str:
    """Of the same length as the text, so that places in it stay."""
    text = text[:_MAX_NAME_LENGTH]
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
