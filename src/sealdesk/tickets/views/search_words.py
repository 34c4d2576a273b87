"""What somebody types into the search: words, and filters such as status:open; no IO."""

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sealdesk import clock
from sealdesk.errors import gettext_noop
from sealdesk.resources.identity import identity
from sealdesk.tickets.ticket.types import PRIORITIES, STATUSES, Priority, Status

# A phrase in quotes, which is left as it is, or a filter, whose quotes contain a quote as two.
_OPERATOR = re.compile(r'"[^"]*"?|(?<!\S)(-?)([A-Za-z][\w.-]*):(?:"((?:[^"]|"")*)"?|([^\s"]\S*))')
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_NUMBER = re.compile(r"#?([0-9]{1,12})", re.ASCII)
_DAY_US = 24 * 60 * 60 * 1_000_000
_NO_STATUS = gettext_noop("“%(value)s” is no status. Write %(right)s.")
_NO_PRIORITY = gettext_noop("“%(value)s” is no priority. Write %(right)s.")
_NO_DATE = gettext_noop("“%(value)s” is no date. Write it as in before:2026-11-01.")
_NOT_EXCLUDED = gettext_noop("“%(value)s” cannot be left out. Only words can, as in -kettle.")


class Problem(NamedTuple):
    """What is wrong with a filter: a message, and its values."""

    message: str
    values: dict[str, str]


class SearchWords(NamedTuple):
    """The words of a search, and its filters. before, after: microseconds. number: of a ticket.

    customers, assignees, teams, followers: as they were typed. fields: the keys and values of
    custom fields.
    """

    text: str
    statuses: tuple[Status, ...] = ()
    priorities: tuple[Priority, ...] = ()
    tags: tuple[str, ...] = ()
    customers: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    followers: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None
    number: int | None = None
    fields: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()


def parse(query: str, keys: Collection[str] = ()) -> SearchWords:
    """The words and filters of a search. keys: of custom fields, in lower case."""
    fields: list[tuple[str, str]] = []
    typed: dict[str, list[str]] = {}
    problems: list[Problem] = []

    def take(match: re.Match[str]) -> str:
        if match[2] is None:
            return match[0]
        name, value = match[2].lower(), (match[4] or match[3].replace('""', '"')).strip()
        if value.startswith("//") or not value:
            return match[0]  # an address, such as https://example.com
        if name in ("status", "priority") and any(each.isdigit() for each in value):
            return match[0]  # of a log, such as status:500: no word of these has a digit
        is_field = name.startswith(_FIELD) or name in keys
        if name not in _NAMES and not is_field:
            return match[0]
        if match[1]:
            problems.append(Problem(_NOT_EXCLUDED, {"value": match[0]}))
        elif is_field:
            fields.append((name.removeprefix(_FIELD), value))
        else:
            typed.setdefault(name, []).append(value)
        return " "

    text = " ".join(_OPERATOR.sub(take, query).split())
    number = _NUMBER.fullmatch(text)
    return SearchWords(
        text,
        _choices(typed.get("status", ()), STATUSES, _NO_STATUS, problems),
        _choices(typed.get("priority", ()), PRIORITIES, _NO_PRIORITY, problems),
        tuple(typed.get("tag", ())),
        tuple(typed.get("from", ())),
        tuple(typed.get("assignee", ())),
        tuple(typed.get("team", ())),
        tuple(typed.get("follower", ())),
        _instant(typed.get("before", ()), 0, problems),
        _instant(typed.get("after", ()), _DAY_US, problems),
        int(number[1]) if number else None,
        tuple(fields),
        tuple(problems),
    )


_FIELD = "field."
_NAMES = ("status", "priority", "tag", "from", "assignee", "team", "follower", "before", "after")


def _choices(
    values: Sequence[str], known: Sequence[Any], message: str, problems: list[Problem]
) -> tuple[Any, ...]:
    """The known values; a hyphen stands for an underline."""
    chosen = [value.lower().replace("-", "_") for value in values]
    right = ", ".join(known)
    problems += [
        Problem(message, {"value": value, "right": right})
        for value, each in zip(values, chosen, strict=True)
        if each not in known
    ]
    return tuple(dict.fromkeys(each for each in chosen if each in known))


def _instant(values: Sequence[str], later_us: int, problems: list[Problem]) -> int | None:
    """The beginning of the last of these days in UTC, or so much later; None without a day."""
    found = None
    for value in values:
        at_us = clock.parse_instant(f"{value}T00:00:00Z") if _DATE.fullmatch(value) else None
        if at_us is None:
            problems.append(Problem(_NO_DATE, {"value": value}))
        else:
            found = at_us + later_us
    return found


def find_named(typed: str, names: Sequence[tuple[str, str]]) -> list[str]:
    """The ids whose name, or a word of it, is as typed. names: (id, name)."""
    wanted = identity(typed)
    known = [(person, identity(name)) for person, name in names]
    exact = [person for person, name in known if name == wanted]
    return exact or [person for person, name in known if wanted in name.split()]
