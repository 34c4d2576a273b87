"""Settings → Rules."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.automation import (
    actions,
    dry_run,
    errors,
    labels,
    rules,
    store,
    typed_rule,
)
from sealdesk.automation.ready_made import READY_MADE
from sealdesk.automation.typed_rule import Known
from sealdesk.automation.types import (
    Condition,
    NewRule,
    Rule,
    RuleActions,
    RuleChange,
)
from sealdesk.clock import iso
from sealdesk.db.engine import Tx
from sealdesk.errors import (
    ApiError,
    Conflict,
    PreconditionFailed,
    QueryTooSlow,
    ValidationFailed,
)
from sealdesk.records import audit
from sealdesk.records.audit import AuditQuery, StoredAuditEntry
from sealdesk.resources.identity import is_among
from sealdesk.resources.paging import LAST_ID
from sealdesk.tickets.ticket.types import PRIORITIES, STATUSES
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/rules"
NAV_ITEM = NavItem(_PATH, gettext_noop("Rules"))
ROOM = Room("automation", errors, labels, NAV_ITEM, object_type="rule")
_BLANK_ROWS = 3
_VERSIONS = 20  # that the page of a rule shows
_BLANK = Condition("", "is", [""])
_EMPTY: dict[str, Any] = {
    "name": "",
    "trigger": "created",
    "hours": "",
    "position": "",
    "is_enabled": True,
    "conditions": [],
    "actions": msgspec.structs.asdict(RuleActions()),
}


@page
async def list_rules(request: Request) -> Response:
    """All rules in their order, each as a sentence."""
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[list[Rule], Known, dict[str, dict[str, int]]]:
        known = await typed_rule.list_known(tx, tenant_id)
        failing = await store.list_failing(tx, tenant_id, request.now_us)
        return await store.list_rules(tx, tenant_id), known, failing

    listed, known, failing = await request.read(work)
    return await render.page(
        request,
        "automation/rules.html",
        rules=listed,
        names=known.names(),
        live_teams=known.teams,
        find_gone=known.find_gone,
        failing=failing,
        most=rules.MAX_RULES,
        ready_made=_list_ready_made(listed),
    )


@page
async def new_rule(request: Request) -> Response:
    return await _form(request, _EMPTY)


@page
async def create_rule(request: Request) -> Response:
    typed = await typed_rule.read(request)
    try:
        new = body.convert(_wanted(typed), NewRule)
        rule = await request.act(actions.create_rule, new, now_us=request.now_us)
    except (ValidationFailed, Conflict) as error:
        return await _form(request, typed, error)
    return _saved(request, rule.id)


@page
async def show_rule(request: Request, rule_id: str) -> Response:
    """One rule in the form that changes it."""
    rule = await request.fetch(actions.get_rule, rule_id)
    typed = {name: getattr(rule, name) for name in rules.CHANGED}
    typed |= {"actions": msgspec.structs.asdict(rule.actions), "hours": rule.hours or ""}
    return await _form(request, typed, rule=rule, versions=await _list_versions(request, rule))


@page
async def change_rule(request: Request, rule_id: str) -> Response:
    """Change a rule, unless somebody else has changed it since the form was opened."""
    rule, typed = await request.fetch(actions.get_rule, rule_id), await typed_rule.read(request)
    seen = forms.read(request).text("seen")
    try:
        change = body.convert(_wanted(typed), RuleChange)
        await request.act(actions.change_rule, rule.id, change, now_us=request.now_us, seen=seen)
    except ValidationFailed as error:
        return await _form(request, typed, error, rule, seen=seen)
    except PreconditionFailed as error:
        return await _form(request, typed, error, await request.fetch(actions.get_rule, rule_id))
    return _saved(request, rule.id)


def _saved(request: Request, rule_id: str) -> Response:
    is_tried = forms.read(request).text("then") == typed_rule.DRY_RUN
    return render.redirect(request, f"{_PATH}/{rule_id}/dry-run" if is_tried else _PATH)


@page
async def switch_rule(request: Request, rule_id: str) -> Response:
    """Switch a rule on or off; also one that the desk has paused."""
    rule = await request.fetch(actions.get_rule, rule_id)
    change = RuleChange(is_enabled=forms.read(request).text("on") == "yes")
    try:
        await request.act(actions.change_rule, rule.id, change, now_us=request.now_us)
    except ValidationFailed as error:
        typed = {name: getattr(rule, name) for name in rules.CHANGED}
        typed |= {"actions": msgspec.structs.asdict(rule.actions), "hours": rule.hours or ""}
        return await _form(request, typed, error, rule)
    return render.redirect(request, _PATH)


@page
async def add_ready_made(request: Request) -> Response:
    """Add one of the rules that come with each desk, switched on."""
    wanted = forms.read(request).text("name")
    for each in READY_MADE:
        if each.name == wanted:
            note = each.actions.note
            said = msgspec.structs.replace(each.actions, note=gettext(note) if note else None)
            new = msgspec.structs.replace(each, name=gettext(each.name), actions=said)
            with suppress(ValidationFailed):  # somebody else has just added it
                await request.act(actions.create_rule, new, now_us=request.now_us)
    return render.redirect(request, _PATH)


@page
async def try_rule(request: Request, rule_id: str) -> Response:
    """What a rule would have done: some thousand events at a time, in turns with others."""
    rule = await request.fetch(actions.get_rule, rule_id)
    typed = forms.number(forms.read_query(request).text("after"))
    after = typed if isinstance(typed, int) else 0
    trial = await dry_run.run(request.read, rule, after, request.now_us)
    known = await request.fetch(typed_rule.list_known)
    return await render.page(
        request,
        "automation/dry_run.html",
        rule=rule,
        trial=trial,
        names=known.names(),
        live_teams=known.teams,
        iso=iso,
    )


@page
async def confirm_deletion(request: Request, rule_id: str) -> Response:
    rule = await request.fetch(actions.get_rule, rule_id)
    return await render.page(request, "automation/delete.html", rule=rule)


@page
async def delete_rule(request: Request, rule_id: str) -> Response:
    await request.act(actions.delete_rule, rule_id, now_us=request.now_us)
    return render.redirect(request, _PATH)


async def _list_versions(request: Request, rule: Rule) -> Sequence[StoredAuditEntry]:
    """The newest versions, from the audit log; none while that is too long to look through."""
    since = ids.lowest(rule.created_at)
    query = AuditQuery(limit=_VERSIONS, before=LAST_ID, since=since, object_id=rule.id)
    with suppress(QueryTooSlow):
        return await request.read_unindexed(
            lambda tx: audit.list_entries(tx, request.caller.tenant_id, query)
        )
    return ()


def _list_ready_made(listed: list[Rule]) -> list[tuple[str, NewRule]]:
    """(translated name, rule) of those that the desk does not have."""
    names = [each.name for each in listed]
    named = [(gettext(each.name), each) for each in READY_MADE]
    return [
        (name, each)
        for name, each in named
        if not (is_among(each.name, names) or is_among(name, names))
    ]


def _wanted(typed: dict[str, Any]) -> dict[str, Any]:
    """The same as the body of an API request."""
    numbers = {
        "hours": forms.number(typed["hours"]) or 0,
        "position": forms.number(typed["position"]),
    }
    given = {name: value for name, value in numbers.items() if value is not None}
    return {**{name: typed[name] for name in typed if name not in numbers}, **given}


async def _form(
    request: Request,
    typed: dict[str, Any],
    error: ApiError | None = None,
    rule: Rule | None = None,
    versions: Sequence[StoredAuditEntry] = (),
    seen: str = "",
) -> Response:
    """The form with what was typed and a message beside each invalid field.

    seen: the version with which it was opened; "" for that of the rule.
    """
    known = await request.fetch(typed_rule.list_known)
    definitions = [each for each in known.fields if each.is_active]
    conditions = typed["conditions"]
    shown = forms.messages(error)
    if isinstance(error, ValidationFailed):
        shown["faults"] = _faults_beside(error, known, msgspec.to_builtins(conditions))
    blank = min(_BLANK_ROWS, typed_rule.MAX_ROWS - len(conditions))
    typed_names = known.typed_names()
    return await render.page(
        request,
        "automation/rule.html",
        error.status if error else 200,
        rule=rule,
        seen=seen or (rule.version if rule else ""),
        versions=versions,
        field_labels=request.site.field_labels,
        typed=typed,
        rows=[*conditions, *[_BLANK] * blank],
        said=known.said,
        fields=[*rules.FIELDS, *(f"{rules.CUSTOM}{each.key}" for each in known.fields)],
        triggers=(*rules.TRIGGERS.values(), "unchanged"),
        statuses=STATUSES,
        priorities=PRIORITIES,
        names=known.names(),
        people=known.people,
        live_teams=known.teams,
        macros=known.macros,
        definitions=definitions,
        set_rows=typed_rule.set_rows(typed["actions"]["custom_fields"]),
        notified=[typed_names.get(each, each) for each in typed["actions"]["notify"] or ()],
        **shown,
    )


def _faults_beside(
    error: ValidationFailed, known: Known, conditions: list[dict[str, Any]]
) -> dict[str, str]:
    """The message of each field, row or choice; that of a row is not repeated below all rows."""
    faults = forms.faults_by_field(error)
    for each in error.faults:
        shown = each
        name, _, place = each.pointer[1:].partition("/")
        if name == "conditions" and place.isdigit():
            faults.pop(name, None)
            said = known.said(conditions[int(place)]["field"])
            choices = str(each.values.get("choices", "")).split(", ")
            words = ", ".join(said.get(choice, choice) for choice in choices)
            shown = each._replace(values={"choices": words})
        faults[each.pointer[1:]] = forms.message_of(shown)
    return faults
