"""Who else looks at a ticket or writes a reply, as a fragment of its page."""

from collections.abc import Mapping, Sequence

from sealdesk.db.engine import Tx
from sealdesk.event_log import presence
from sealdesk.tickets import actions
from sealdesk.tickets.held_replies import store as held_replies
from sealdesk.tickets.held_replies.types import HeldReply
from sealdesk.tickets.ticket.store import replying
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, i18n, render
from sealdesk.web.request import Request, Response


@page
async def show_presence(request: Request, ticket_id: str) -> Response:
    """Who else looks or writes, and whether the ticket has changed since the page was shown.

    A POST also records that the caller is writing a reply, or with writing=no that it is not.
    """
    caller, is_post = request.caller, request.method == "POST"
    is_writing = is_post and forms.read(request).text("writing") != "no"

    async def work(
        tx: Tx,
    ) -> tuple[str, Sequence[str], Mapping[str, str], Sequence[HeldReply]]:
        view = await actions.get_view(tx, caller.tenant_id, ticket_id)
        others = await replying.list_replying(
            tx, caller.tenant_id, ticket_id, except_id=caller.actor.id, now_us=request.now_us
        )
        if is_writing:
            await replying.record_replying(
                tx, caller.tenant_id, ticket_id, caller.actor, request.now_us
            )
        elif is_post:
            await replying.clear_replying(tx, caller.tenant_id, ticket_id, caller.actor.id)
        if is_post:
            await presence.count_changes(tx, caller.tenant_id, [ticket_id])
        viewers = await presence.list_viewers(tx, caller.tenant_id, ticket_id, request.now_us)
        held = await held_replies.list_of_ticket(tx, caller.tenant_id, ticket_id)
        return view.etag, others, viewers, held

    etag, writing, viewers, held = await (request.write(work) if is_post else request.read(work))
    streams = request.state.streams
    if is_post:
        streams.tell_presence(caller.tenant_id, ticket_id)
    looking = {**viewers, **streams.users_of(caller.tenant_id, ticket_id)}
    return await render.page(
        request,
        "tickets/news.html",
        ticket_id=ticket_id,
        replying_notice=replying_notice(writing),
        leaving_notice=leaving_notice(held, caller.actor.id),
        looking_notice=_looking_notice(looking, caller.actor.id, writing),
        is_changed=state_of(etag, held) != forms.read_query(request).text("state"),
    )


def state_of(etag: str, held: Sequence[HeldReply]) -> str:
    """What a page shows of a ticket. A reply that could not leave is no part of the ticket."""
    return " ".join([etag, *(each.id for each in held if each.failed_at is not None)])


def replying_notice(names: Sequence[str]) -> str:
    """Who else is writing a reply."""
    if not names:
        return ""
    text = i18n.ngettext(
        "%(names)s is replying to this ticket.",
        "%(names)s are replying to this ticket.",
        len(names),
    )
    return text % {"names": _listed(names)}


def leaving_notice(held: Sequence[HeldReply], reader_id: str) -> str:
    """Whose reply leaves in some seconds; its author can undo it on every page."""
    waiting = [each for each in held if each.failed_at is None and not each.is_of(reader_id)]
    names = sorted({each.user_name for each in waiting})
    if not names:
        return ""
    return i18n.gettext("A reply of %(names)s leaves in a moment.") % {"names": _listed(names)}


def _looking_notice(looking: Mapping[str, str], reader_id: str, writing: Sequence[str]) -> str:
    names = [name for user_id, name in looking.items() if user_id != reader_id]
    names = sorted({*names} - {*writing})[: replying.MAX_NAMES]
    if not names:
        return ""
    text = i18n.ngettext(
        "%(names)s is looking at this ticket.", "%(names)s are looking at this ticket.", len(names)
    )
    return text % {"names": _listed(names)}


def _listed(names: Sequence[str]) -> str:
    """Each name is isolated, as it may be written right to left."""
    return ", ".join(f"\u2068{name}\u2069" for name in names)
