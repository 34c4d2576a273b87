"""The page of a ticket: its conversation, a reply form, a form of its fields, and its history."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sealdesk import ids
from sealdesk.caller import Actor
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, PreconditionFailed, ValidationFailed
from sealdesk.paging import PageRequest
from sealdesk.tickets import actions, rules
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.pages.links import link_urls
from sealdesk.tickets.pages.view_model import TicketPage
from sealdesk.tickets.store import assignees, history, replying
from sealdesk.tickets.store.history import TicketHistoryEntry
from sealdesk.tickets.types import (
    PRIORITIES,
    STATUSES,
    NewReply,
    Reply,
    TicketChange,
    TicketResponse,
)
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, i18n, render
from sealdesk.web.request import Request, Response

_PATH = "/tickets"
_CHANGES_PER_PAGE = 50
_SELECTS = ("status", "priority", "assignee_id")


class _RejectedForm(NamedTuple):
    """A form whose input was not accepted. form: "change" or "reply".

    seen_change: the id of the newest change that its page showed. before: the values of its fields
    when the page was shown.
    """

    form: str
    typed: dict[str, Any]
    error: ApiError
    seen_change: str = ""
    before: dict[str, Any] = {}  # noqa: RUF012 - never changed


@page
async def show_ticket(request: Request) -> Response:
    """A ticket with its newest replies, or with those before a given one."""
    return await _respond(request)


@page
async def change_ticket(request: Request) -> Response:
    """Change the fields of a ticket, unless somebody else has changed it meanwhile."""
    form, (ticket_id,) = forms.read(request), request.params
    typed, etag = _typed_fields(form), form.text("etag")
    try:
        fields = {**typed, "assignee_id": typed["assignee_id"] or None}
        fields["tags"] = [*typed["tags"], *_split_tags(fields.pop("new_tags"))]
        change = body.convert(fields, TicketChange)
        await request.write(
            lambda tx: actions.change_ticket(
                tx, request.caller, ticket_id, change, if_match=(etag,), now_us=request.now_us
            )
        )
    except (ValidationFailed, Conflict, PreconditionFailed) as error:
        before: dict[str, Any] = {name: form.text(f"was_{name}") for name in _SELECTS}
        before["tags"] = form.texts("was_tags")
        rejected = _RejectedForm("change", typed, error, form.text("seen_change"), before)
        return await _respond(request, rejected)
    return render.redirect(request, f"{_PATH}/{ticket_id}")


@page
async def reply(request: Request) -> Response:
    """Add a reply or an internal note, and change the status if one was chosen."""
    form, (ticket_id,) = forms.read(request), request.params
    typed = {"body": form.text("body"), "is_internal": form.text("is_internal") != ""}
    status, last_seen_id = form.text("status"), form.text("seen")
    try:
        new = body.convert(typed, NewReply)
        change = body.convert({"status": status} if status else {}, TicketChange)

        async def work(tx: Tx) -> Reply:
            return await actions.send_reply(
                tx,
                request.caller,
                ticket_id,
                new,
                change,
                last_seen_id=last_seen_id,
                now_us=request.now_us,
            )

        written = await request.write(work)
    except (ValidationFailed, Conflict, PreconditionFailed) as error:
        rejected = _RejectedForm("reply", {**typed, "status": status}, error)
        return await _respond(request, rejected)
    return render.redirect(request, f"{_PATH}/{ticket_id}?sent={written.id}#reply-{written.id}")


@page
async def show_news(request: Request) -> Response:
    """Who else is writing a reply, and whether the ticket has changed since the page was shown.

    A POST also records that the caller is writing a reply.
    """
    (ticket_id,) = request.params
    tenant_id, actor = request.caller.tenant_id, request.caller.actor

    async def work(tx: Tx) -> tuple[str, str]:
        view = await actions.get_view(tx, tenant_id, ticket_id)
        others = await replying.list_replying(
            tx, tenant_id, ticket_id, except_id=actor.id, now_us=request.now_us
        )
        if request.method == "POST":
            await replying.record_replying(tx, tenant_id, ticket_id, actor, request.now_us)
        return view.etag, _replying_notice(others)

    etag, notice = await (request.write(work) if request.method == "POST" else request.read(work))
    is_changed = etag != forms.read_query(request).text("etag")
    return await render.page(
        request, "tickets/news.html",
        ticket_id=ticket_id, replying_notice=notice, is_changed=is_changed,
    )  # fmt: skip


@page
async def show_history(request: Request) -> Response:
    """All changes of a ticket, newest first."""
    tenant_id, (ticket_id,) = request.caller.tenant_id, request.params
    trail = cursor_trail.read(forms.read_query(request))
    page_request = PageRequest(_CHANGES_PER_PAGE, [trail[-1]] if trail else None)

    async def work(tx: Tx) -> tuple[TicketResponse, list[TicketHistoryEntry], dict[str, str]]:
        view = await actions.get_view(tx, tenant_id, ticket_id)
        changes = await history.list_changes(tx, tenant_id, ticket_id, page_request)
        names = await assignees.list_names(tx, tenant_id, history.assignee_ids(changes))
        return view_model.decode(view.json), changes, names

    ticket, changes, names = await request.read(work)
    has_more = len(changes) > _CHANGES_PER_PAGE
    return await render.page(
        request, "tickets/history.html",
        ticket=ticket, names=names, changes=changes[:_CHANGES_PER_PAGE],
        older=cursor_trail.older(trail, changes[_CHANGES_PER_PAGE - 1].id) if has_more else None,
        newer=cursor_trail.newer(trail),
    )  # fmt: skip


async def _respond(request: Request, rejected: _RejectedForm | None = None) -> Response:
    """The page of a ticket; with the typed values and the errors of a rejected form."""
    query, (ticket_id,) = forms.read_query(request), request.params
    (before,) = cursor_trail.read(query)[-1:] or (None,)
    view = await request.read(
        lambda tx: view_model.load_ticket_page(
            tx, request.caller, ticket_id, before=before, now_us=request.now_us
        )
    )
    ticket = view.ticket
    return await render.page(
        request, "tickets/ticket.html", rejected.error.status if rejected else 200,
        view=view, ticket=ticket, names=view.names, link_urls=link_urls,
        before=before,
        replying_notice=_replying_notice(view.replying), is_changed=False, ticket_id=ticket.id,
        agents=_assignee_options(view, request.caller.actor),
        statuses=STATUSES, priorities=PRIORITIES,
        allowed=(ticket.status, *rules.TRANSITIONS[ticket.status]),
        max_changes=view_model.CHANGES,
        sent_id=_sent_id(request, query, view),
        **_form_values(view, rejected),
    )  # fmt: skip


def _form_values(view: TicketPage, rejected: _RejectedForm | None) -> dict[str, Any]:
    """The values of both forms, and the errors of the rejected one."""
    ticket = view.ticket
    change = {name: getattr(ticket, name) or "" for name in _SELECTS}
    change |= {"tags": list(ticket.tags), "new_tags": ""}
    values: dict[str, Any] = {
        "change_form": change,
        "reply_form": {"body": "", "is_internal": False, "status": ""},
        "rejected_form": "",
        "is_stale": False,
        "conflict_code": "",
        "faults": {},
        "newer_changes": [],
    }
    if rejected is None:
        return values
    error = rejected.error
    values["rejected_form"] = rejected.form
    values["is_stale"] = isinstance(error, PreconditionFailed)
    values["conflict_code"] = error.code if isinstance(error, Conflict) else ""
    values["faults"] = forms.faults_by_field(error) if isinstance(error, ValidationFailed) else {}
    values["newer_changes"] = [entry for entry in view.changes if entry.id > rejected.seen_change]
    if rejected.form == "reply":
        values["reply_form"] = rejected.typed
    else:
        values["change_form"] = _merge(change, rejected) if values["is_stale"] else rejected.typed
    return values


def _merge(current: dict[str, Any], rejected: _RejectedForm) -> dict[str, Any]:
    """The typed values; a field that was left as it was gets its current value."""
    typed, before = rejected.typed, rejected.before
    merged = {
        name: typed[name] if typed[name] != before[name] else current[name] for name in _SELECTS
    }
    known = {*before["tags"], *current["tags"]}
    added = [tag for tag in typed["tags"] if tag not in known]
    removed = {*before["tags"]} - {*typed["tags"]}
    merged["tags"] = [tag for tag in current["tags"] if tag not in removed] + added
    return {**merged, "new_tags": typed["new_tags"]}


def _assignee_options(view: TicketPage, reader: Actor) -> list[tuple[str, str]]:
    """(id, name) of the active users, of the reader, and of the current assignee; by name."""
    options = {user.id: user.name for user in view.people if user.is_active}
    options.setdefault(reader.id, reader.name)
    assignee_id = view.ticket.assignee_id
    if assignee_id is not None:
        options.setdefault(assignee_id, view.names.get(assignee_id, assignee_id))
    return sorted(options.items(), key=lambda option: (option[1].casefold(), option[0]))


def _sent_id(request: Request, query: Form, view: TicketPage) -> str:
    """The id of the reply that the reader has just sent, whose draft the page then deletes."""
    sent = query.text("sent")
    if not ids.is_canonical(sent):
        return ""
    own = [r.id for r in view.conversation.replies if r.author.id == request.caller.actor.id]
    return sent if sent in own else ""


def _typed_fields(form: Form) -> dict[str, Any]:
    return {
        "status": form.text("status"),
        "priority": form.text("priority"),
        "assignee_id": form.text("assignee_id"),
        "tags": form.texts("tags"),
        "new_tags": form.text("new_tags"),
    }


def _split_tags(text: str) -> list[str]:
    return [tag for part in text.split(",") if (tag := part.strip())]


def _replying_notice(names: Sequence[str]) -> str:
    """Who else is writing a reply. Each name is isolated, as it may be written right to left."""
    if not names:
        return ""
    listed = ", ".join(f"\u2068{name}\u2069" for name in names)
    text = i18n.ngettext(
        "%(names)s is replying to this ticket.",
        "%(names)s are replying to this ticket.",
        len(names),
    )
    return text % {"names": listed}
