"""Composes the e-mail of a weekly report: its numbers as text and as an HTML table."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from sealdesk.db.engine import Tx
from sealdesk.identity import store as identity
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.sending.composing import begin_automatic
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.mail.weekly_reports import actions, links, rules, store
from sealdesk.mail.weekly_reports.types import SavedReport
from sealdesk.reports import making, naming, periods
from sealdesk.reports import query as queries
from sealdesk.reports.figures import Figures
from sealdesk.reports.making import Report
from sealdesk.reports.query import Query
from sealdesk.state import AppState
from sealdesk.web.form import parse_form
from sealdesk.web.pages import i18n
from sealdesk.web.pages.durations import duration_text
from sealdesk.web.pages.i18n import gettext

_MOST_ROWS = 20
_NOTHING, _TO = "\u2013", " \u2013 "
Table = Sequence[Sequence[str]]


class _Found(NamedTuple):
    report: SavedReport
    zone: ZoneInfo
    desk_name: str


async def compose(state: AppState, mailbox: Mailbox, message: OutgoingMessage) -> bytes | None:
    """The message as SMTP sends it; None if nobody wants or may get it any more."""
    report_id, monday = rules.parse_about_id(message.about_id)
    found = await state.database.read(lambda tx: _find(tx, message, report_id))
    if found is None:
        return None
    i18n.activate(found.report.language)
    query = read_query(found.report, monday)
    made = await making.make(
        state.database, message.tenant_id, query, found.zone, state.clock.now_us()
    )
    token = links.token_of(state.key_ring, message.tenant_id, report_id)
    unsubscribe = f"{found.report.base_url}{links.PATH}/{token}"
    sender, days = mailbox.display_name or found.desk_name, _days(query)
    subject = gettext("Report of %(days)s") % {"days": days}
    composed = begin_automatic(message, sender, mailbox.address, subject)
    composed["List-Unsubscribe"] = f"<{unsubscribe}>"
    composed["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"  # RFC 8058
    heading = f"{sender}, {days} · {naming.describe(query, made.names)}"
    tables = [_figures(made), *([_values(query, made)] if made.values else [])]
    link = f"{found.report.base_url}{query.link()}"
    composed.set_content(_text(heading, tables, link, unsubscribe), cte="quoted-printable")
    html = _html(heading, tables, link, unsubscribe)
    composed.add_alternative(html, subtype="html", cte="quoted-printable")
    return composed.as_bytes()


def read_query(report: SavedReport, day: date) -> Query:
    """What a saved report asks for, in the week of a day."""
    return queries.read(parse_form(report.query.encode()), day)


async def _find(tx: Tx, message: OutgoingMessage, report_id: str) -> _Found | None:
    tenant_id = message.tenant_id
    report = await store.find(tx, tenant_id, report_id)
    user = await actions.find_recipient(tx, report) if report else None
    tenant = await identity.find_tenant(tx, tenant_id)
    if report is None or user is None or user.email != message.address or tenant is None:
        return None
    return _Found(report, await actions.read_zone(tx, tenant_id), tenant.name)


def _days(query: Query) -> str:
    return f"{query.period.first}{_TO}{periods.last_day(query.period)}"


def _figures(report: Report) -> Table:
    now, earlier = _cells(report.now), _cells(report.earlier)
    rows = [
        (name, now[name], earlier[name]) for name in now if {now[name], earlier[name]} != {_NOTHING}
    ]
    return [("", gettext("This period"), gettext("Previous period")), *rows]


def _cells(figures: Figures) -> dict[str, str]:
    """The numbers of a report by what they are called."""
    return {
        gettext("Created"): i18n.number(figures.created),
        gettext("First answered"): i18n.number(figures.answered),
        gettext("Resolved"): i18n.number(figures.resolved),
        gettext("Reopened"): i18n.number(figures.reopened),
        gettext("First response, median"): _duration(figures.answer_us),
        gettext("Resolution, median"): _duration(figures.resolution_us),
        gettext("First response in business hours, median"): _duration(figures.answer_work_us),
        gettext("Resolution in business hours, median"): _duration(figures.resolution_work_us),
        gettext("SLA promises kept"): _share(figures.kept_percent, figures.promises),
        gettext("Satisfied customers"): _share(figures.satisfied_percent, figures.ratings),
    }


def _values(query: Query, report: Report) -> Table:
    heading = naming.dimension_name(query.by, report.names)
    columns = (gettext("Created"), gettext("Resolved"), gettext("First response, median"))
    rows = []
    for value, figures in report.values[:_MOST_ROWS]:
        cells = _cells(figures)
        name = naming.value_name(query.by, value, report.names)
        rows.append((name, *(cells[each] for each in columns)))
    return [(heading, *columns), *rows]


def _duration(duration_us: int | None) -> str:
    return _NOTHING if duration_us is None else duration_text(duration_us)


def _share(percent: int | None, of: int) -> str:
    return _NOTHING if percent is None else f"{percent} % / {i18n.number(of)}"


def _text(heading: str, tables: Sequence[Table], link: str, unsubscribe: str) -> str:
    end = f"{_why()} {_end()}:\n{unsubscribe}"
    parts = [heading, *("\n".join(_lines(each)) for each in tables), link, end]
    return "\n\n".join(parts) + "\n"


def _lines(table: Table) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def _html(heading: str, tables: Sequence[Table], link: str, unsubscribe: str) -> str:
    parts = [Markup("<p><strong>{}</strong></p>").format(heading)]
    for table in tables:
        rows = [_row(row, "th" if place == 0 else "td") for place, row in enumerate(table)]
        parts.append(Markup('<table cellpadding="4">{}</table>').format(Markup("").join(rows)))
    of_link = Markup('<p>{} <a href="{}">{}</a></p>')
    parts.append(of_link.format("", link, gettext("Open the report")))
    parts.append(of_link.format(_why(), unsubscribe, _end()))
    return "\n".join(parts)


def _row(cells: Sequence[str], tag: str) -> Markup:
    first, *others = map(escape, cells)
    aligned = [Markup('<{0} align="right">{1}</{0}>').format(tag, each) for each in others]
    shown = Markup("").join([Markup('<th align="left">{}</th>').format(first), *aligned])
    return Markup("<tr>{}</tr>").format(shown)


def _why() -> str:
    return gettext("You get this each Monday because you asked for it.")


def _end() -> str:
    return gettext("End this weekly report")
