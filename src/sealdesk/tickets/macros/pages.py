"""Settings → Macros, one's own ones too, and the preview of a macro on a ticket."""

from typing import Any

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, NotFound, PreconditionFailed, ValidationFailed
from sealdesk.resources.identity import is_visible
from sealdesk.tickets.attachments import actions as attachments
from sealdesk.tickets.macros import actions, errors, labels, rules, store, variables
from sealdesk.tickets.macros.types import ME, Macro, MacroChange, NewMacro, Reader
from sealdesk.tickets.ticket.store import assignees, teams
from sealdesk.tickets.ticket.store.teams import TeamOption
from sealdesk.tickets.ticket.types import PRIORITIES, STATUSES
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/macros"
NAV_ITEM = NavItem(_PATH, gettext_noop("Macros"))
ROOM = Room("tickets.macros", errors, labels, NAV_ITEM, object_type="macro")
_ASSIGNEES = 1000  # the options of a select, as on the page of a ticket
# Of refused tags: more than may be given, and longer than one may be.
_SHOWN_TAGS, _SHOWN_OF_TAG = 100, 1000
_SELECTS = ("status", "priority", "assignee_id", "team_id")
_EMPTY = {
    "name": "",
    "shortcut": "",
    "body": "",
    **dict.fromkeys(_SELECTS, ""),
    "tags": (),
    "owner_id": "",
    "attachment_ids": (),
}


@page
async def list_macros(request: Request) -> Response:
    """One's own macros, for administrators also those of the desk, each with what it sets."""
    tenant_id, reader = request.caller.tenant_id, _reader(request)
    added_id = forms.read_query(request).text("added")

    async def work(tx: Tx) -> tuple[list[Macro], dict[str, assignees.Assignee], dict[str, str]]:
        listed = await store.list_short(tx, tenant_id, reader)
        macros = [each for each in listed if _may_change(request, each.owner_id)]
        wanted = {
            each.assignee_id for each in macros if each.assignee_id and each.assignee_id != ME
        }
        people = await assignees.find_assignees(tx, tenant_id, wanted)
        team_ids = {each for macro in macros for each in (macro.team_id, macro.owner_id) if each}
        return macros, people, await teams.list_names(tx, tenant_id, team_ids)

    macros, people, team_names = await request.read(work)
    return await render.page(
        request,
        "macros/macros.html",
        folders=rules.by_folder(macros),
        people=people,
        team_names=team_names,
        added=next((macro for macro in macros if macro.id == added_id), None),
    )


@page
async def new_macro(request: Request) -> Response:
    return await _form(request, _EMPTY)


@page
async def create_macro(request: Request) -> Response:
    typed = _read_fields(forms.read(request))
    try:
        new = body.convert(_wanted(typed), NewMacro)
        is_own = typed["owner_id"] == ME or not _may_change(request, "")
        owner_id = request.caller.actor.id if is_own else typed["owner_id"]
        macro = await request.act(
            actions.create_macro,
            new,
            now_us=request.now_us,
            owner_id=owner_id,
            attachment_ids=typed["attachment_ids"],
        )
    except (ValidationFailed, Conflict) as error:
        return await _form(request, typed, error)
    return render.redirect(request, f"{_PATH}?added={macro.id}")


@page
async def show_macro(request: Request, macro_id: str) -> Response:
    """One macro in the form that changes it."""
    macro = await _get_macro(request, macro_id)
    typed = {name: getattr(macro, name) or "" for name in rules.FIELDS}
    files = await request.fetch(attachments.list_of_macro, macro.id)
    typed["attachment_ids"] = [each.id for each in files]
    return await _form(request, typed, macro=macro)


@page
async def change_macro(request: Request, macro_id: str) -> Response:
    """Change a macro, unless somebody else has changed it since the form was opened."""
    macro, form = await _get_macro(request, macro_id), forms.read(request)
    typed, seen = _read_fields(form), form.text("seen")
    try:
        change = body.convert(_wanted(typed), MacroChange)
        reader = _reader(request)
        await request.act(
            actions.change_macro,
            macro.id,
            change,
            now_us=request.now_us,
            reader=reader,
            attachment_ids=typed["attachment_ids"],
            seen=seen,
        )
    except ValidationFailed as error:
        return await _form(request, typed, error, macro, seen=seen)
    except PreconditionFailed as error:
        return await _form(request, typed, error, await _get_macro(request, macro_id))
    return render.redirect(request, _PATH)


@page
async def confirm_deletion(request: Request, macro_id: str) -> Response:
    macro = await _get_macro(request, macro_id)
    return await render.page(request, "macros/delete.html", macro=macro)


@page
async def delete_macro(request: Request, macro_id: str) -> Response:
    macro, reader = await _get_macro(request, macro_id), _reader(request)
    await request.act(actions.delete_macro, macro.id, now_us=request.now_us, reader=reader)
    return render.redirect(request, _PATH)


@page
async def preview(request: Request, ticket_id: str, macro_id: str) -> Response:
    """What a macro would write and set on a ticket: a fragment for the composer."""
    applied = await request.read(
        lambda tx: actions.apply_macro(tx, request.caller, ticket_id, macro_id)
    )
    return await render.page(request, "macros/preview.html", applied=applied)


async def _get_macro(request: Request, macro_id: str) -> Macro:
    """A macro that the user may change. Raises NotFound."""
    macro = await request.fetch(actions.get_macro, macro_id, _reader(request))
    if not _may_change(request, macro.owner_id):
        raise NotFound
    return macro


def _may_change(request: Request, owner_id: str) -> bool:
    """owner_id: of a macro; those of the desk and of teams are the administrators'."""
    visitor = request.visitor
    is_administrator = visitor is not None and visitor.is_administrator
    return is_administrator or owner_id == request.caller.actor.id


def _reader(request: Request) -> Reader:
    """The user, who as an administrator sees the macros of all teams."""
    return Reader(request.caller.actor.id, _may_change(request, ""))


def _read_fields(form: Form) -> dict[str, Any]:
    """The fields as they were typed."""
    added = [tag.strip() for tag in form.text("new_tags").split(",") if tag.strip()]
    return {
        "name": form.text("name").strip(),
        "shortcut": form.text("shortcut").strip().removeprefix(";"),
        "body": form.text("body") if is_visible(form.text("body")) else "",
        **{name: form.text(name) for name in _SELECTS},
        "tags": [*form.texts("tags"), *added],
        "owner_id": form.text("owner_id"),
        "attachment_ids": [each for each in form.texts("attachment_ids") if ids.is_canonical(each)],
    }


def _wanted(typed: dict[str, Any]) -> dict[str, Any]:
    """The same as the body of an API request: an empty choice is none."""
    fields = {name: typed[name] for name in rules.FIELDS}
    return {**fields, **{name: typed[name] or None for name in _SELECTS}}


async def _form(
    request: Request,
    typed: dict[str, Any],
    error: ApiError | None = None,
    macro: Macro | None = None,
    seen: str = "",
) -> Response:
    """The form with what was typed and a message beside each invalid field.

    seen: the `updated_at` with which it was opened; "" for that of the macro.
    """
    tenant_id, assignee_id = request.caller.tenant_id, typed["assignee_id"]

    async def work(tx: Tx) -> tuple[list[assignees.Assignee], bool, list[TeamOption]]:
        people, has_more = await _people(tx, tenant_id, assignee_id)
        return people, has_more, await teams.list_choices(tx, tenant_id, typed["team_id"])

    people, has_more, team_options = await request.read(work)
    files = await request.fetch(attachments.list_unsent, typed["attachment_ids"])
    return await forms.show(
        request,
        "macros/macro.html",
        error,
        macro=macro,
        seen=seen or (macro.updated_at if macro else ""),
        typed={**typed, "tags": [tag[:_SHOWN_OF_TAG] for tag in typed["tags"][:_SHOWN_TAGS]]},
        statuses=STATUSES,
        priorities=PRIORITIES,
        people=people,
        has_more_people=has_more,
        teams=team_options,
        files=files,
        variables=variables.NAMES,
    )


async def _people(
    tx: Tx, tenant_id: str, assignee_id: str
) -> tuple[list[assignees.Assignee], bool]:
    """The active users and this one by name, and whether there are more."""
    users = await assignees.list_assignees(tx, tenant_id, _ASSIGNEES)
    listed = {user.id: user for user in users[:_ASSIGNEES] if user.is_active}
    current = await assignees.find_assignee(tx, tenant_id, assignee_id)
    if current is not None:
        listed[current.id] = current
    by_name = sorted(listed.values(), key=lambda user: (user.name.casefold(), user.id))
    return by_name, len(users) > _ASSIGNEES
