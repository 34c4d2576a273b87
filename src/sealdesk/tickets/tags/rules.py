"""Which tags are suggested, what renaming does to texts, and when it waits; no IO."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from sealdesk.resources.identity import identity
from sealdesk.tickets.tags.types import CountedTag, Renaming
from sealdesk.tickets.ticket.rules import distinct
from sealdesk.web.form import parse_form

MAX_UNFINISHED = 5  # of a desk
# An identity may have more characters than its tag: case folding writes "ß" as "ss".
MAX_TAG_LENGTH, MAX_IDENTITY_LENGTH = 64, 256
_BEHIND_ALL = "\U0010ffff"  # no tag begins with it
_NEXT = "\x01"  # nothing that can be stored is between a text and the text with this character


def range_of(prefix: str) -> tuple[str, str]:
    """The tags that begin with a text: from the first one up to the second, in byte order."""
    return prefix, prefix + _BEHIND_ALL


def range_after(tag: str) -> tuple[str, str]:
    """All tags behind one."""
    return tag + _NEXT, _BEHIND_ALL


def spelled(tag: str, tags: Iterable[str]) -> str:
    """The spelling of an identity among the tags of a ticket."""
    return next((each for each in tags if identity(each) == tag), tag)


def most_used(found: Iterable[CountedTag], most: int) -> list[str]:
    """The tags with the most tickets."""
    order = sorted(found, key=lambda each: (-each.ticket_count, each.identity))
    return [each.tag for each in order[:most]]


def is_same(tag: str, other: str) -> bool:
    """Whether two texts are one tag."""
    return identity(tag) == identity(other)


def is_busy(unfinished: Sequence[Renaming], tag: str, new_tag: str) -> bool:
    """Whether a renaming must wait: for one with the same tags, or for any of many."""
    in_use = {identity(name) for each in unfinished for name in (each.tag, each.new_tag)}
    wanted = {identity(tag), identity(new_tag)}
    return len(unfinished) >= MAX_UNFINISHED or not in_use.isdisjoint(wanted)


def renamed(tags: Sequence[str], tag: str, new_tag: str) -> list[str]:
    """The tags of a ticket with the new name in the place of the old one, each once."""
    return list(distinct([new_tag if is_same(each, tag) else each for each in tags]))


def renamed_query(query: str, tag: str, new_tag: str) -> str:
    """The query of a view with the new name; the same text if it has another tag or none."""
    fields = parse_form(query.encode()).fields
    changed = [(n, new_tag if n == "tag" and is_same(v, tag) else v) for n, v in fields]
    return query if changed == fields else urlencode(changed)
