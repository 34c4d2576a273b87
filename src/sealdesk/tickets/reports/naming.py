"""What dimensions and their values are called, in the language of the reader."""

from collections.abc import Mapping

from sealdesk.tickets.reports.query import Query
from sealdesk.tickets.reports.types import Dimension
from sealdesk.web.pages.i18n import gettext


def dimension_name(dimension: Dimension) -> str:
    """What tickets are told apart by."""
    return {
        "desk": gettext("Tickets"),
        "team": gettext("Team"),
        "assignee": gettext("Assignee"),
        "source": gettext("Source"),
        "tag": gettext("Tag"),
    }[dimension]


def value_name(dimension: Dimension, value: str, names: Mapping[str, str]) -> str:
    """A value of a dimension. names: of teams and people, by their ids."""
    if not value:
        return gettext("no team") if dimension == "team" else gettext("nobody")
    if dimension in ("team", "assignee"):
        return names.get(value) or gettext("(deleted)")
    return value


def describe(query: Query, names: Mapping[str, str]) -> str:
    """Which tickets a report counts, and by what."""
    by = gettext("By %(dimension)s") % {"dimension": dimension_name(query.by)}
    if query.dimension == "desk":
        return by
    value = value_name(query.dimension, query.value, names)
    return f"{dimension_name(query.dimension)}: {value} · {by}"
