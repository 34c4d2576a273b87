"""What dimensions and their values are called, in the language of the reader."""

from collections.abc import Mapping

from sealdesk.reports.query import Query
from sealdesk.reports.types import FIELD, Dimension
from sealdesk.web.pages.i18n import gettext


def dimension_name(dimension: Dimension, names: Mapping[str, str]) -> str:
    """What tickets are told apart by. names: see `Report`."""
    known = {
        "desk": gettext("Tickets"),
        "team": gettext("Team"),
        "assignee": gettext("Assignee"),
        "source": gettext("Source"),
        "tag": gettext("Tag"),
        "key": gettext("API key"),
    }
    return known.get(dimension) or names.get(dimension) or dimension.removeprefix(FIELD)


def value_name(dimension: Dimension, value: str, names: Mapping[str, str]) -> str:
    """A value of a dimension."""
    if not value:
        nothing = {"team": gettext("no team"), "assignee": gettext("nobody")}
        return nothing.get(dimension) or gettext("none")
    if dimension in ("team", "assignee", "key"):
        return names.get(value) or gettext("(deleted)")
    return value


def describe(query: Query, names: Mapping[str, str]) -> str:
    """Which tickets a report counts, and by what."""
    by = gettext("By %(dimension)s") % {"dimension": dimension_name(query.by, names)}
    if query.dimension == "desk":
        return by
    value = value_name(query.dimension, query.value, names)
    return f"{dimension_name(query.dimension, names)}: {value} · {by}"
