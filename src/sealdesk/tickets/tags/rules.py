"""Which tags are suggested, what renaming does to texts, and when it waits; no IO."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from sealdesk.tickets.tags.types import CountedTag, Renaming
from sealdesk.web.form import parse_form

MAX_UNFINISHED = 5  # of a desk
KEPT_US = 7 * 24 * 3600 * 1_000_000  # of what is finished
MAX_TAG_LENGTH = 64
_BEHIND_ALL = "\U0010ffff"  # no tag begins with it
_NEXT = "\x01"  # nothing that can be stored is between a text and the text with this character


def range_of(prefix: str) -> tuple[str, str]:
    """The tags that begin with a text: from the first one up to the second, in byte order."""
    return prefix, prefix + _BEHIND_ALL


def range_after(tag: str) -> tuple[str, str]:
    """All tags behind one."""
    return tag + _NEXT, _BEHIND_ALL


def prefixes_of(typed: str) -> list[str]:
    """What tags can begin with that match what was typed, in the usual cases."""
    variants = (typed, typed.lower(), typed.upper(), typed.capitalize())
    return list(dict.fromkeys(variants))


def most_used(found: Iterable[CountedTag], most: int) -> list[str]:
    """The tags with the most tickets, each once."""
    by_tag = {each.tag: each.ticket_count for each in found}
    return sorted(by_tag, key=lambda tag: (-by_tag[tag], tag))[:most]


def is_busy(unfinished: Sequence[Renaming], tag: str, new_tag: str) -> bool:
    """Whether a renaming must wait: for one with the same tags, or for any of many."""
    in_use = {name for each in unfinished for name in (each.tag, each.new_tag)}
    return len(unfinished) >= MAX_UNFINISHED or not in_use.isdisjoint((tag, new_tag))


def renamed(tags: Sequence[str], tag: str, new_tag: str) -> list[str]:
    """The tags of a ticket with the new name in the place of the old one, each once."""
    return list(dict.fromkeys(new_tag if each == tag else each for each in tags))


def renamed_query(query: str, tag: str, new_tag: str) -> str:
    """The query of a view with the new name; the same text if it has another tag or none."""
    fields = parse_form(query.encode()).fields
    if ("tag", tag) not in fields:
        return query
    return urlencode([(name, new_tag if (name, v) == ("tag", tag) else v) for name, v in fields])
