"""The response with the page of a ticket, also with a form whose input was not accepted."""

from typing import Any, NamedTuple

from sealdesk import ids
from sealdesk.caller import Actor
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, NotFound, PreconditionFailed, ValidationFailed
from sealdesk.tickets.attachments import actions as attachments
from sealdesk.tickets.editing import rules as editing
from sealdesk.tickets.held_replies.types import leaving_of
from sealdesk.tickets.live import store as live
from sealdesk.tickets.macros.types import AppliedMacro
from sealdesk.tickets.pages import (
    custom_values,
    neighbours,
    presence,
    timeline,
    view_model,
)
from sealdesk.tickets.pages.inbox_rows import show_due
from sealdesk.tickets.pages.neighbours import Place
from sealdesk.tickets.pages.view_model import TicketPage
from sealdesk.tickets.text import kept_html
from sealdesk.tickets.ticket import rules, snoozing
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.types import CUSTOM, PRIORITIES, STATUSES, Ticket, TicketResponse
from sealdesk.web.form import Form
from sealdesk.web.pages import cursor_trail, forms, preferences, render
from sealdesk.web.request import Request, Response

PATH = "/tickets"
SINGLE_VALUED = ("status", "priority", "assignee_id", "team_id", "subject", "snoozed_until")


class RejectedForm(NamedTuple):
    """A form whose input was not accepted, or not to be sent yet. form: "change" or "reply".

    error: None when a macro was to be put in. seen_change, seen_reply: the ids of the newest change
    and of the newest reply that its page showed. before: the values of its fields when the page was
    shown; of a reply, the fields that are changed with it. macro: what was put in.
    """

    form: str
    typed: dict[str, Any]
    error: ApiError | None
    seen_change: str = ""
    before: dict[str, Any] = {}  # noqa: RUF012 - never changed
    seen_reply: str = ""
    macro: AppliedMacro | None = None

    @property
    def status(self) -> int:
        """Of the response."""
        return self.error.status if self.error else 200


async def respond(
    request: Request, ticket_id: str, rejected: RejectedForm | None = None
) -> Response:
    """The page of a ticket; with the typed values and the errors of a rejected form."""
    query = forms.read_query(request)
    (before,) = cursor_trail.read(query)[-1:] or (None,)
    # Before the ticket: the page is told of everything behind it.
    position = await request.fetch(live.last_position)
    unsent_ids = rejected.typed.get("attachment_ids", ()) if rejected else ()

    async def work(tx: Tx) -> TicketPage:
        view = await view_model.load_ticket_page(
            tx, request.caller, ticket_id, before=before, now_us=request.now_us
        )
        tenant_id = request.caller.tenant_id
        unsent = await attachments.list_unsent(tx, tenant_id, unsent_ids) if unsent_ids else ()
        return view._replace(unsent_files=unsent)

    view = await request.read(work)
    ticket = view.ticket
    if ticket.merged_into_id is not None and rejected is None:
        return render.redirect(request, f"{PATH}/{ticket.merged_into_id}?merged={ticket.id}")
    place = rejected.typed.get("place") if rejected else await _find_place(request, query, ticket)
    look = timeline.look_of(view.texts, view.people, request.state.settings.path_prefix)
    is_mail, sandbox = ticket.source == "email", request.state.sandbox
    (description,) = await kept_html.render_all(sandbox, [(ticket.description, is_mail)], look)
    return await render.page(
        request,
        "tickets/ticket.html",
        rejected.status if rejected else 200,
        view=view,
        ticket=ticket,
        names=view.names,
        description=description,
        editable=_editable_notes(view, request.caller.actor.id, request.now_us),
        entries=await timeline.render_entries(sandbox, view.timeline, look, is_mail=is_mail),
        avatar=timeline.avatar,
        before=before,
        ticket_id=ticket.id,
        position=position,
        state=presence.state_of(view.etag, view.held),
        is_changed=False,
        reader_id=request.caller.actor.id,
        due=show_due(ticket.due, request.now_us),
        is_following=request.caller.actor.id in {each.id for each in view.followers},
        merged=await _find_merged(request, ticket_id, query.text("merged")),
        place=place.text() if place else "",
        **_notices(request, query, view),
        **_options(request, view),
        **_form_values(view, rejected, preferences.sends(request)),
    )


def _notices(request: Request, query: Form, view: TicketPage) -> dict[str, Any]:
    """What the page says about others who answer, and about what its reader has sent."""
    user_id = request.caller.actor.id
    own = {"leaving_replies": leaving_of(view.held, user_id, request.real_now_us)}
    return {
        **({} if preferences.holds(request) else own),  # this browser did not send it
        "replying_notice": presence.replying_notice(view.replying),
        "looking_notice": "",
        "leaving_notice": presence.leaving_notice(view.held, user_id),
        "sent_id": _sent_id(request, query, view),
        "held_id": _held_id(request, query, view),
        "has_left": bool(query.text("left")),
    }


def _options(request: Request, view: TicketPage) -> dict[str, Any]:
    """What each field of the ticket can be set to."""
    status = view.ticket.status
    return {
        "agents": _assignee_options(view, request.caller.actor),
        "teams": _team_options(view),
        "statuses": STATUSES,
        "allowed": (status, *rules.TRANSITIONS[status]),
        "priorities": PRIORITIES,
        "snoozes": snoozing.choices(request.now_us),
    }


def _editable_notes(view: TicketPage, user_id: str, now_us: int) -> list[str]:
    """The ids of the notes that the user may still edit."""
    own = [each.id for each in view.timeline.replies if editing.is_own_note(each, user_id)]
    return [each for each in own if editing.is_recent(each, now_us)]


def current_fields(ticket: TicketResponse) -> dict[str, Any]:
    """The values of the ticket in the form of its fields."""
    values = {name: getattr(ticket, name) or "" for name in SINGLE_VALUED}
    return {**values, "tags": list(ticket.tags)}


async def _find_place(request: Request, query: Form, ticket: TicketResponse) -> Place | None:
    return neighbours.read_place(query) or await neighbours.find_place(request, ticket)


async def _find_merged(request: Request, ticket_id: str, merged_id: str) -> Ticket | None:
    """The ticket that was merged into this one, whose address led here."""
    if not ids.is_canonical(merged_id):
        return None
    stored = await request.fetch(ticket_store.find, merged_id)
    is_merged_here = stored is not None and stored.ticket.merged_into_id == ticket_id
    return stored.ticket if stored is not None and is_merged_here else None


def _form_values(
    view: TicketPage, rejected: RejectedForm | None, sends: preferences.Sends | None
) -> dict[str, Any]:
    """The values of both forms, and the errors of the rejected one."""
    ticket = view.ticket
    change = {**current_fields(ticket), "new_tags": ""}
    way = (sends or preferences.Sends())._asdict()
    way |= {"offered": way["status"], "is_remembered": sends is not None}
    values: dict[str, Any] = {
        "change_form": change,
        "reply_form": {"body": "", "is_internal": False, **way},
        "rejected_form": "",
        "is_stale": False,
        "answered": None,
        "stale_field": "",
        "conflict_code": "",
        "faults": {},
        "newer_changes": [],
        "chosen": {},
        "macro": None,
        "is_macro_missing": False,
    }
    if rejected is None:
        return values
    error = rejected.error
    values["rejected_form"] = rejected.form
    values["is_stale"] = isinstance(error, PreconditionFailed)
    values["stale_field"] = error.values.get("field", "") if error else ""
    values["conflict_code"] = error.code if isinstance(error, Conflict) else ""
    if isinstance(error, ValidationFailed):
        values["faults"] = forms.faults_by_field(error) | custom_values.faults_by_name(error)
    values["newer_changes"] = [entry for entry in view.changes if entry.id > rejected.seen_change]
    if rejected.form == "reply":
        newer = [each for each in view.timeline.replies if each.id > rejected.seen_reply]
        values["answered"] = newer[-1] if newer and values["is_stale"] else None
        values["reply_form"] = rejected.typed
        values["change_form"] = {**change, **rejected.before}
        values["chosen"] = rejected.before
        values["macro"] = rejected.macro
        values["is_macro_missing"] = isinstance(error, NotFound)
    else:
        values["change_form"] = _merge(change, rejected) if values["is_stale"] else rejected.typed
    return values


def _merge(current: dict[str, Any], rejected: RejectedForm) -> dict[str, Any]:
    """The typed values; a field that was left as it was gets its current value."""
    typed, before = rejected.typed, rejected.before
    merged = {
        name: typed[name] if typed[name] != before[name] else current[name]
        for name in SINGLE_VALUED
    }
    known = {*before["tags"], *current["tags"]}
    added = [tag for tag in typed["tags"] if tag not in known]
    removed = {*before["tags"]} - {*typed["tags"]}
    merged["tags"] = [tag for tag in current["tags"] if tag not in removed] + added
    custom = {
        name: text
        for name, text in typed.items()
        if name.startswith(CUSTOM) and text != before.get(name)
    }
    return {**merged, **custom, "new_tags": typed["new_tags"]}


def _assignee_options(view: TicketPage, reader: Actor) -> list[tuple[str, str]]:
    """(id, name) of the active users, of the reader, and of the current assignee; by name."""
    options = view_model.assignee_options(view.people, reader)
    assignee_id = view.ticket.assignee_id
    if assignee_id is not None:
        options.setdefault(assignee_id, view.names.get(assignee_id, assignee_id))
    return view_model.sort_options(options)


def _team_options(view: TicketPage) -> list[tuple[str, str]]:
    """(id, name) of the teams, and of the current one, which may be deleted."""
    options = dict(view.teams)
    team_id = view.ticket.team_id
    if team_id is not None:
        options.setdefault(team_id, view.names.get(team_id, team_id))
    return list(options.items())


def _sent_id(request: Request, query: Form, view: TicketPage) -> str:
    """The id of the reply that the reader has just sent, whose draft the page then deletes."""
    sent = query.text("sent")
    if not ids.is_canonical(sent):
        return ""
    own = [r.id for r in view.timeline.replies if r.author.id == request.caller.actor.id]
    return sent if sent in own else ""


def _held_id(request: Request, query: Form, view: TicketPage) -> str:
    """The id of the reply that the reader has just sent and that has not left yet."""
    own = [each.id for each in view.held if each.is_of(request.caller.actor.id)]
    return held if (held := query.text("held")) in own else ""
