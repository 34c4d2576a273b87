"""Settings → Audit log: the actions of a desk's users and keys, as a page and as a CSV file."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from sealdesk import clock, ids
from sealdesk.audit_log import labels
from sealdesk.db import threads
from sealdesk.identity.labels import CHANNEL_LABELS, ROLE_LABELS
from sealdesk.records import audit
from sealdesk.records.audit import AuditQuery, StoredAuditEntry
from sealdesk.resources import csv_file
from sealdesk.resources.addresses import known_address
from sealdesk.resources.paging import LAST_ID
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.pages.site import NavItem, Room, Site
from sealdesk.web.request import Request, Response

_PATH = "/settings/audit"
NAV_ITEM = NavItem(_PATH, gettext_noop("Audit log"), section="developers")
ROOM = Room("audit_log", labels=labels, nav_item=NAV_ITEM)
_PER_PAGE = 50
_MAX_EXPORTED = 10_000
_MAX_EXPORTED_CHARS = 4 * 1024 * 1024  # 10,000 usual entries have 2.5 million
_READ_AT_ONCE = 500
_COLUMNS = ("time", "action", "actor_kind", "actor", "actor_id", "address", "object_id", "details")
_SYSTEM = "system"  # the value of the filter for an actor without an id
_MAX_DETAILS = 20
_MAX_NAMES = 500
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VALUE_LABELS = {"role": ROLE_LABELS, "how": CHANNEL_LABELS}  # by the name of the detail


class AuditFilter(NamedTuple):
    """The submitted filters, their faults by field, and the query that they make."""

    typed: dict[str, str]
    faults: dict[str, str]
    query: AuditQuery


class EntryView(NamedTuple):
    """An entry as the page shows it. path: of the object's page, "" without one."""

    entry: StoredAuditEntry
    object_name: str
    path: str
    details: list[tuple[str, str]]


@page
async def show_audit(request: Request) -> Response:
    """A page of matching entries, the newest first."""
    form = forms.read_query(request)
    trail = cursor_trail.read(form)
    asked = _read_filter(form, _PER_PAGE + 1, trail[-1] if trail else None)
    rows = [] if asked.faults else await _list_entries(request, asked.query)
    shown = rows[:_PER_PAGE]
    names = await _name_objects(request, shown)
    return await render.page(
        request,
        "audit_log/audit.html",
        400 if asked.faults else 200,
        entries=[_view(each, request.site, names) for each in shown],
        labels=request.site.action_labels,
        field_labels=request.site.field_labels,
        typed=asked.typed,
        faults=asked.faults,
        actor_name=_actor_name(asked, shown),
        query=urlencode({name: value for name, value in asked.typed.items() if value}),
        max_exported=_MAX_EXPORTED,
        older=cursor_trail.older(trail, shown[-1].id) if len(rows) > _PER_PAGE else None,
        newer=cursor_trail.newer(trail),
    )


@page
async def export_audit(request: Request) -> Response:
    """The newest matching entries as a CSV file; the export itself is recorded."""
    asked = _read_filter(forms.read_query(request), _READ_AT_ONCE, None)
    if asked.faults:
        return render.redirect(request, f"{_PATH}?{urlencode(asked.typed)}")
    lines, is_all = await _list_lines(request, asked.query)
    details: dict[str, Any] = {name: value for name, value in asked.typed.items() if value}
    details["rows"] = len(lines)
    await request.act(audit.record, "audit.exported", None, details, request.now_us)
    if not is_all:
        more = f"More than {len(lines)} rows; export the rest with until={lines[-1][0]}"
        lines.append((more, *[""] * (len(_COLUMNS) - 1)))
    # Formatting thousands of rows takes 0.1 s: not in the event loop.
    content = await threads.run_in(None, csv_file.encode, _COLUMNS, lines)
    name = f"audit-{clock.iso(request.now_us)[:10]}.csv"
    return render.download(content, b"text/csv; charset=utf-8", name)


async def _list_lines(request: Request, query: AuditQuery) -> tuple[list[tuple[str, ...]], bool]:
    """The newest matching entries as lines of the file, and whether they are all."""
    lines: list[tuple[str, ...]] = []
    chars = 0
    while True:
        entries = await _list_entries(request, query, is_long=True)
        for entry in entries:
            if len(lines) == _MAX_EXPORTED or chars >= _MAX_EXPORTED_CHARS:
                return lines, False
            lines.append(_line(entry))
            chars += sum(map(len, lines[-1]))
        if len(entries) < query.limit:
            return lines, True
        query = msgspec.structs.replace(query, before=entries[-1].id)


async def _list_entries(
    request: Request, query: AuditQuery, *, is_long: bool = False
) -> list[StoredAuditEntry]:
    tenant_id = request.caller.tenant_id
    read = request.read if query.is_served() and not is_long else request.read_unindexed
    return await read(lambda tx: audit.list_entries(tx, tenant_id, query))


def _read_filter(form: Form, limit: int, after: str | None) -> AuditFilter:
    typed = {name: form.text(name).strip() for name in ("actor", "action", "since", "until")}
    faults = {}
    bounds: dict[str, str] = {}
    for name in ("since", "until"):
        at_us = clock.parse_instant(typed[name])
        if at_us is not None:
            # `until` is inclusive, so that a filter can end at the instant that an entry shows.
            bounds[name] = ids.lowest(at_us if name == "since" else at_us + 1)
        elif typed[name]:
            faults[name] = gettext("This is not a date and time.")
    if len(bounds) == 2 and bounds["until"] <= bounds["since"]:
        faults["until"] = gettext("This is before the start.")
    ends = [end for end in (after, bounds.get("until")) if end]
    query = AuditQuery(
        limit=limit,
        before=min(ends, default=LAST_ID),
        since=bounds.get("since", ids.NONE),
        actor_id="" if typed["actor"] == _SYSTEM else typed["actor"] or None,
        action=typed["action"] or None,
    )
    return AuditFilter(typed, faults, query)


def _actor_name(asked: AuditFilter, shown: list[StoredAuditEntry]) -> str:
    # The filter holds an id; without an entry on the page, nothing tells its name.
    return shown[0].actor.name if asked.typed["actor"] and shown else asked.typed["actor"]


async def _name_objects(request: Request, entries: list[StoredAuditEntry]) -> Mapping[str, str]:
    """The names of the objects that entries have as ids."""
    texts = [f"{each.object_id} {msgspec.json.encode(each.details).decode()}" for each in entries]
    found = dict.fromkeys(_ID.findall(" ".join(texts)))
    return await request.fetch(audit.list_names, [*found][:_MAX_NAMES])


def _view(entry: StoredAuditEntry, site: Site, names: Mapping[str, str]) -> EntryView:
    name = _object_name(entry)
    details = [
        (each, _ID.sub(lambda found: names.get(found[0], found[0]), value))
        for each, value in _details(entry, name, site.field_labels)
    ]
    shown_name = name or names.get(entry.object_id or "", "")
    return EntryView(entry, shown_name, _object_path(entry, site.object_paths), details)


def _object_name(entry: StoredAuditEntry) -> str:
    names = (entry.details.get(each) for each in ("name", "label", "url", "email"))
    return known_address(next((name for name in names if isinstance(name, str)), ""))


def _object_path(entry: StoredAuditEntry, object_paths: Mapping[str, str]) -> str:
    path = object_paths.get(entry.action.partition(".")[0])
    exists = path and entry.object_id and not entry.action.endswith(".deleted")
    return f"{path}/{entry.object_id}" if exists else ""


def _details(
    entry: StoredAuditEntry, object_name: str, labels: Mapping[str, str]
) -> list[tuple[str, str]]:
    details = {name: value for name, value in entry.details.items() if value not in ({}, [], None)}
    for name in _VALUE_LABELS.keys() & details.keys():
        details[name] = _label(details[name], _VALUE_LABELS[name])
    changes = details.pop("changes", {})
    shown = [(name, value) for name, value in details.items() if value != object_name]
    if isinstance(changes, dict):
        shown += changes.items()
    return [(name, _format_change(value, labels)) for name, value in shown[:_MAX_DETAILS]]


def _label(value: Any, labels: dict[str, str]) -> Any:
    if isinstance(value, list):  # the value before and after a change
        return [_label(each, labels) for each in value]
    is_known = isinstance(value, str) and value in labels
    return gettext(labels[value]) if is_known else value


def _format_change(value: Any, labels: Mapping[str, str]) -> str:
    if isinstance(value, list) and len(value) == 2:
        return " → ".join(_format(each, labels) for each in value)
    return _format(value, labels)


def _format(value: Any, labels: Mapping[str, str]) -> str:
    """A value as people write it."""
    if value in (None, "", [], {}):
        return "\u2013"
    match value:
        case bool():
            return gettext("yes") if value else gettext("no")
        case list():
            return ", ".join(_format(each, labels) for each in value)
        case dict():
            parts = [
                (gettext(labels.get(name, name)), each) for name, each in value.items() if each
            ]
            return ", ".join(f"{name}: {_format(each, labels)}" for name, each in parts)
    return known_address(str(value))


def _line(entry: StoredAuditEntry) -> tuple[str, ...]:
    return (
        entry.created_at,
        entry.action,
        entry.actor.kind,
        entry.actor.name,
        entry.actor.id,
        entry.address,
        entry.object_id or "",
        msgspec.json.encode(entry.details).decode(),
    )
