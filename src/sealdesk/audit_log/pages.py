"""Settings → Audit: what was done at the desk and by whom, as a page and as a file."""

import asyncio
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from sealdesk import clock, ids
from sealdesk.audit_log import csv_file
from sealdesk.audit_log.action_names import ACTION_NAMES, ROLE_NAMES, WAYS
from sealdesk.identity import actions, store
from sealdesk.records import audit
from sealdesk.records.audit import Found, Wanted
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.forms import Form
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.pages.site import NavItem
from sealdesk.web.request import Request, Response
from sealdesk.web.router import page

NAV_ITEM = NavItem("/settings/audit", gettext_noop("Audit"))
_PER_PAGE = 50
_MOST_EXPORTED = 10_000
_HEADS = ("time", "action", "actor_kind", "actor", "actor_id", "address", "object_id", "details")
# How an address names who has no id.
_SYSTEM = "system"
_MOST_CHANGES = 20
# Where what a deed was done to has its page, by the first word of the deed.
_PLACES = {
    "user": "/settings/people",
    "api_key": "/settings/api-keys",
    "webhook": "/settings/webhooks",
}
# Details whose values have a name.
_NAMES = {"role": ROLE_NAMES, "how": WAYS}


class InboxQuery(NamedTuple):
    """The filters of the page as they were typed, and what is wrong with them."""

    typed: dict[str, str]
    faults: dict[str, str]
    wanted: Wanted


@page
async def show_audit(request: Request) -> Response:
    """A page of it, newest first, by actor, action and time."""
    form = forms.read_query(request)
    behind = cursor_trail.read(form)
    asked = _asked(form, _PER_PAGE + 1, behind[-1] if behind else None)
    rows = [] if asked.faults else await _read(request, asked.wanted)
    shown = rows[:_PER_PAGE]
    return await render.page(
        request, "audit_log/audit.html", 400 if asked.faults else 200,
        deeds=[(each, _object(each), _place(each), _told(each)) for each in shown],
        names=ACTION_NAMES,
        typed=asked.typed,
        faults=asked.faults,
        by=_name_of(asked, shown),
        query=urlencode({name: value for name, value in asked.typed.items() if value}),
        most=_MOST_EXPORTED,
        older=cursor_trail.older(behind, shown[-1].id) if len(rows) > _PER_PAGE else None,
        newer=cursor_trail.newer(behind),
    )  # fmt: skip


@page
async def export_audit(request: Request) -> Response:
    """The same as a file for spreadsheets; of more than it may hold, the newest.

    Nobody gets it without the audit saying so.
    """
    asked = _asked(forms.read_query(request), _MOST_EXPORTED + 1, None)
    if asked.faults:
        return render.redirect(request, f"/settings/audit?{urlencode(asked.typed)}")
    rows = await _read(request, asked.wanted, is_long=True)
    details: dict[str, Any] = {name: value for name, value in asked.typed.items() if value}
    details["rows"] = min(len(rows), _MOST_EXPORTED)
    await request.write(
        lambda tx: actions.note_export(tx, request.caller, details, now_us=request.now_us)
    )
    # Thousands of rows take a tenth of a second: beside the request loop.
    content = await asyncio.to_thread(_file, rows)
    name = f"audit-{clock.iso(request.now_us)[:10]}.csv"
    return render.download(content, b"text/csv; charset=utf-8", name)


async def _read(request: Request, wanted: Wanted, *, is_long: bool = False) -> list[Found]:
    tenant_id = request.caller.tenant_id
    read = request.read if wanted.is_served() and not is_long else request.read_unindexed
    return await read(lambda tx: audit.list_deeds(tx, tenant_id, wanted))


def _asked(form: Form, limit: int, after: str | None) -> InboxQuery:
    typed = {name: form.text(name).strip() for name in ("actor", "action", "since", "until")}
    faults = {}
    bounds: dict[str, str] = {}
    for name in ("since", "until"):
        at_us = clock.parse_instant(typed[name])
        if at_us is not None:
            # Until an instant is with it: what one click did may stand on both sides of an end.
            bounds[name] = ids.lowest(at_us if name == "since" else at_us + 1)
        elif typed[name]:
            faults[name] = gettext("This is not a date and time.")
    if len(bounds) == 2 and bounds["until"] <= bounds["since"]:
        faults["until"] = gettext("This is before the beginning.")
    ends = [end for end in (after, bounds.get("until")) if end]
    wanted = Wanted(
        limit=limit,
        before=min(ends, default=store.LAST_ID),
        since=bounds.get("since", ids.NONE),
        actor_id="" if typed["actor"] == _SYSTEM else typed["actor"] or None,
        action=typed["action"] or None,
    )
    return InboxQuery(typed, faults, wanted)


def _name_of(asked: InboxQuery, shown: list[Found]) -> str:
    """Whose deeds are asked for; by their id when none is there to tell the name."""
    return shown[0].actor.name if asked.typed["actor"] and shown else asked.typed["actor"]


def _object(deed: Found) -> str:
    """What it was done to, by the name that its details tell."""
    for name in ("name", "url", "email"):
        if isinstance(deed.details.get(name), str):
            return str(deed.details[name])
    return ""


def _place(deed: Found) -> str:
    """The page of what it was done to, "" without one."""
    place = _PLACES.get(deed.action.partition(".")[0])
    is_there = place and deed.object_id and not deed.action.endswith(".deleted")
    return f"{place}/{deed.object_id}" if is_there else ""


def _told(deed: Found) -> list[tuple[str, str]]:
    """What else was noted, a line for each."""
    details = {name: value for name, value in deed.details.items() if value not in ({}, [], None)}
    for name in _NAMES.keys() & details.keys():
        details[name] = _named(details[name], _NAMES[name])
    changes = details.pop("changes", {})
    lines = [(name, _text(value)) for name, value in details.items() if value != _object(deed)]
    if isinstance(changes, dict):
        lines += [(name, _text(value)) for name, value in changes.items()]
    return lines[:_MOST_CHANGES]


def _named(value: Any, names: dict[str, str]) -> Any:
    """A value, or what it was and is, by its name."""
    if isinstance(value, list):
        return [_named(each, names) for each in value]
    is_known = isinstance(value, str) and value in names
    return gettext(names[value]) if is_known else value


def _text(value: Any) -> str:
    """A value, or what it was and is."""
    if isinstance(value, list) and len(value) == 2:
        return f"{_text(value[0])} → {_text(value[1])}"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _file(rows: list[Found]) -> bytes:
    kept = rows[:_MOST_EXPORTED]
    lines: list[tuple[str, ...]] = [
        (
            each.created_at,
            each.action,
            each.actor.kind,
            each.actor.name,
            each.actor.id,
            each.address,
            each.object_id or "",
            msgspec.json.encode(each.details).decode(),
        )
        for each in kept
    ]
    if len(rows) > len(kept):
        more = f"More than {_MOST_EXPORTED} rows; go on with those until {lines[-1][0]}"
        lines.append((more, *[""] * (len(_HEADS) - 1)))
    return csv_file.of(_HEADS, lines)
