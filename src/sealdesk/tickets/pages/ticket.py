"""A ticket as a page: its conversation, an answer, its fields in one form, and who changed what."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sealdesk import ids
from sealdesk.caller import Actor
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, PreconditionFailed, ValidationFailed
from sealdesk.paging import PageRequest
from sealdesk.tickets import actions, rules
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.pages.links import linked
from sealdesk.tickets.pages.view_model import View
from sealdesk.tickets.store import history
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.store.history import Changed
from sealdesk.tickets.types import (
    PRIORITIES,
    STATUSES,
    NewReply,
    Reply,
    TicketChange,
    TicketResponse,
)
from sealdesk.web import body
from sealdesk.web.pages import cursor_trail, forms, i18n, render
from sealdesk.web.pages.forms import Form
from sealdesk.web.request import Request, Response
from sealdesk.web.router import page

_PATH = "/tickets"
_CHANGES = 50
_CHOSEN = ("status", "priority", "assignee_id")


class _Sent(NamedTuple):
    """A form that was refused. form: which of the two. seen_change: the newest that it showed.

    was: what the fields held when it was shown.
    """

    form: str
    typed: dict[str, Any]
    refusal: ApiError
    seen_change: str = ""
    was: dict[str, Any] = {}  # noqa: RUF012 - never changed


@page
async def show_ticket(request: Request) -> Response:
    """One ticket; of a long conversation the newest part, or that before a reply."""
    return await _show(request)


@page
async def change_ticket(request: Request) -> Response:
    """Change what stands in the form beside the conversation, unless it has changed meanwhile."""
    form, (ticket_id,) = forms.read(request), request.params
    typed, etag = _typed_change(form), form.text("etag")
    try:
        wanted = {**typed, "assignee_id": typed["assignee_id"] or None}
        wanted["tags"] = [*typed["tags"], *_split(wanted.pop("new_tags"))]
        change = body.convert(wanted, TicketChange)
        await request.write(
            lambda tx: actions.change_ticket(
                tx, request.caller, ticket_id, change, if_match=(etag,), now_us=request.now_us
            )
        )
    except (ValidationFailed, Conflict, PreconditionFailed) as refusal:
        was: dict[str, Any] = {name: form.text(f"was_{name}") for name in _CHOSEN}
        was["tags"] = form.texts("was_tags")
        return await _show(request, _Sent("change", typed, refusal, form.text("seen_change"), was))
    return render.redirect(request, f"{_PATH}/{ticket_id}")


@page
async def reply(request: Request) -> Response:
    """Answer, or leave a note for colleagues; and move the ticket on, if so chosen."""
    form, (ticket_id,) = forms.read(request), request.params
    typed = {"body": form.text("body"), "is_internal": form.text("is_internal") != ""}
    status = form.text("status")
    try:
        new = body.convert(typed, NewReply)
        after = body.convert({"status": status} if status else {}, TicketChange)
        seen = form.text("seen")

        async def work(tx: Tx) -> Reply:
            return await actions.send_reply(
                tx, request.caller, ticket_id, new, after, seen=seen, now_us=request.now_us
            )

        written = await request.write(work)
    except (ValidationFailed, Conflict, PreconditionFailed) as refusal:
        return await _show(request, _Sent("reply", {**typed, "status": status}, refusal))
    return render.redirect(request, f"{_PATH}/{ticket_id}?sent={written.id}#reply-{written.id}")


@page
async def tell_news(request: Request) -> Response:
    """Lines that say who is answering, and whether something is new since a page was shown.

    Sent as a form it says that one is writing an answer oneself.
    """
    (ticket_id,) = request.params
    tenant_id, actor = request.caller.tenant_id, request.caller.actor

    async def work(tx: Tx) -> tuple[str, str]:
        shown = await actions.get_shown(tx, tenant_id, ticket_id)
        others = await history.list_answering(
            tx, tenant_id, ticket_id, but_for=actor.id, now_us=request.now_us
        )
        if request.method == "POST":
            await history.note_answering(tx, tenant_id, ticket_id, actor, request.now_us)
        return shown.etag, _told(others)

    etag, told = await (request.write(work) if request.method == "POST" else request.read(work))
    is_changed = etag != forms.read_query(request).text("etag")
    return await render.page(
        request, "tickets/news.html", ticket_id=ticket_id, told=told, is_changed=is_changed
    )


@page
async def show_history(request: Request) -> Response:
    """All that was changed of a ticket, newest first."""
    tenant_id, (ticket_id,) = request.caller.tenant_id, request.params
    way = cursor_trail.read(forms.read_query(request))
    wanted = PageRequest(_CHANGES, [way[-1]] if way else None)

    async def work(tx: Tx) -> tuple[TicketResponse, list[Changed], dict[str, str]]:
        shown = await actions.get_shown(tx, tenant_id, ticket_id)
        changes = await history.list_changes(tx, tenant_id, ticket_id, wanted)
        names = await ticket_store.list_names(tx, tenant_id, history.assignees(changes))
        return view_model.decode(shown.document), changes, names

    ticket, changes, names = await request.read(work)
    is_more = len(changes) > _CHANGES
    return await render.page(
        request, "tickets/history.html",
        ticket=ticket, names=names, changes=changes[:_CHANGES],
        older=cursor_trail.older(way, changes[_CHANGES - 1].id) if is_more else None,
        newer=cursor_trail.newer(way),
    )  # fmt: skip


async def _show(request: Request, sent: _Sent | None = None) -> Response:
    """The page of a ticket; with what was typed and what is wrong, when a form was refused."""
    asked, (ticket_id,) = forms.read_query(request), request.params
    (before,) = cursor_trail.read(asked)[-1:] or (None,)
    view = await request.read(
        lambda tx: view_model.view(
            tx, request.caller, ticket_id, before=before, now_us=request.now_us
        )
    )
    ticket = view.ticket
    return await render.page(
        request, "tickets/ticket.html", sent.refusal.status if sent else 200, may_fetch=True,
        view=view, ticket=ticket, names=view.names, linked=linked,
        before=before,
        told=_told(view.answering), is_changed=False, ticket_id=ticket.id,
        agents=_agents(view, request.caller.actor),
        statuses=STATUSES, priorities=PRIORITIES,
        allowed=(ticket.status, *rules.TRANSITIONS[ticket.status]),
        most_changes=view_model.CHANGES,
        sent_id=_sent_id(request, asked, view),
        **_refused(view, sent),
    )  # fmt: skip


def _refused(view: View, sent: _Sent | None) -> dict[str, Any]:
    """What both forms hold, and what is to be said of the one that was refused."""
    ticket = view.ticket
    change = {name: getattr(ticket, name) or "" for name in _CHOSEN}
    change |= {"tags": list(ticket.tags), "new_tags": ""}
    shown: dict[str, Any] = {
        "change": change,
        "answer": {"body": "", "is_internal": False, "status": ""},
        "refused": sent.form if sent else "",
        "is_stale": sent is not None and isinstance(sent.refusal, PreconditionFailed),
        "wrong": sent.refusal.code if sent and isinstance(sent.refusal, Conflict) else "",
        "faults": forms.faults_by_field(sent.refusal)
        if sent and isinstance(sent.refusal, ValidationFailed)
        else {},
        "since": [],
    }
    if sent is not None:
        if sent.form == "change":
            shown["change"] = _merged(change, sent) if shown["is_stale"] else sent.typed
        else:
            shown["answer"] = sent.typed
        shown["since"] = [each for each in view.changes if each.id > sent.seen_change]
    return shown


def _merged(now: dict[str, Any], sent: _Sent) -> dict[str, Any]:
    """What was chosen, and where nothing was chosen what others have made of it meanwhile."""
    typed, was = sent.typed, sent.was
    merged = {name: typed[name] if typed[name] != was[name] else now[name] for name in _CHOSEN}
    added = [tag for tag in typed["tags"] if tag not in was["tags"] and tag not in now["tags"]]
    removed = {*was["tags"]} - {*typed["tags"]}
    merged["tags"] = [tag for tag in now["tags"] if tag not in removed] + added
    return {**merged, "new_tags": typed["new_tags"]}


def _agents(view: View, reader: Actor) -> list[tuple[str, str]]:
    """Whom it can be assigned to, by name; and whom it is, even if that could not be done now."""
    agents = {user.id: user.name for user in view.people if user.is_active}
    agents.setdefault(reader.id, reader.name)
    assignee_id = view.ticket.assignee_id
    if assignee_id is not None:
        agents.setdefault(assignee_id, view.names.get(assignee_id, assignee_id))
    return sorted(agents.items(), key=lambda agent: (agent[1].casefold(), agent[0]))


def _sent_id(request: Request, asked: Form, view: View) -> str:
    """The reply that was sent just now, if it is the reader's: the draft of it has had its time."""
    sent = asked.text("sent")
    if not ids.is_canonical(sent):
        return ""
    own = [r.id for r in view.conversation.replies if r.author.id == request.caller.actor.id]
    return sent if sent in own else ""


def _typed_change(form: Form) -> dict[str, Any]:
    return {
        "status": form.text("status"),
        "priority": form.text("priority"),
        "assignee_id": form.text("assignee_id"),
        "tags": form.texts("tags"),
        "new_tags": form.text("new_tags"),
    }


def _split(text: str) -> list[str]:
    return [tag for part in text.split(",") if (tag := part.strip())]


def _told(names: Sequence[str]) -> str:
    """Who else is writing an answer; each name by itself, whatever direction it is read in."""
    if not names:
        return ""
    listed = ", ".join(f"\u2068{name}\u2069" for name in names)
    said = i18n.ngettext(
        "%(names)s is writing an answer to this ticket.",
        "%(names)s are writing answers to this ticket.",
        len(names),
    )
    return said % {"names": listed}
