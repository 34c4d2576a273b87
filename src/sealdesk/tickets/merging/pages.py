"""The pages that merge a ticket into another, undo it, and split a ticket."""

from collections.abc import Mapping
from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, ValidationFailed, invalid
from sealdesk.errors import Fault as FieldFault
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets import actions as ticket_actions
from sealdesk.tickets.merging import actions, choosing, errors, rules
from sealdesk.tickets.merging.types import Merge, Split
from sealdesk.tickets.ticket.store import replies
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer
from sealdesk.tickets.ticket.types import Reply
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import translate
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

PATH = "/tickets"
ROOM = Room("tickets.merging", errors)
_MAX_LISTED = 50  # replies that may be the last one to move
_UNKNOWN_NUMBER = "There is no ticket with this number."


class _Pair(NamedTuple):
    """The ticket that ends and the one that stays, None until it is chosen."""

    source: TicketAndCustomer
    target: TicketAndCustomer | None


@page
async def show_merge(request: Request, ticket_id: str) -> Response:
    """Asks for the number of the ticket that stays, then shows both before they are merged."""
    return await _respond_merge(request, ticket_id, forms.read_query(request).text("into"), None)


@page
async def merge(request: Request, ticket_id: str) -> Response:
    """Merge the ticket into the one with the number in the form."""
    number = forms.read(request).text("into")

    async def work(tx: Tx) -> str:
        target_id = await choosing.find_id(tx, request.caller.tenant_id, number)
        if target_id is None:
            raise invalid([FieldFault("/into", "unknown_ticket", _UNKNOWN_NUMBER)])
        await actions.merge(tx, request.caller, ticket_id, Merge(target_id), now_us=request.now_us)
        return target_id

    try:
        target_id = await request.write(work)
    except (Conflict, ValidationFailed) as error:
        return await _respond_merge(request, ticket_id, number, error)
    return render.redirect(request, f"{PATH}/{target_id}?merged={ticket_id}")


@page
async def undo(request: Request, ticket_id: str) -> Response:
    """Take a merged ticket out of the other one again."""
    try:
        await request.act(actions.undo, ticket_id, now_us=request.now_us)
    except Conflict as error:
        return await _respond_merge(request, ticket_id, "", error)
    return render.redirect(request, f"{PATH}/{ticket_id}")


@page
async def show_split(request: Request, ticket_id: str) -> Response:
    """Asks for the subject of the new ticket and its last reply, and shows its first one."""
    reply_id = forms.read_query(request).text("reply")
    return await _respond_split(request, ticket_id, {"reply_id": reply_id}, None)


@page
async def split(request: Request, ticket_id: str) -> Response:
    """Open a new ticket that begins with a reply of this one."""
    form = forms.read(request)
    typed = {name: form.text(name) for name in ("reply_id", "subject", "last_reply_id")}
    try:
        new = body.convert({**typed, "last_reply_id": typed["last_reply_id"] or None}, Split)
        opened = await request.act(
            actions.split, ticket_id, new, source="dashboard", now_us=request.now_us
        )
    except (Conflict, ValidationFailed) as error:
        return await _respond_split(request, ticket_id, typed, error)
    return render.redirect(request, f"{PATH}/{opened.id}")


async def _respond_merge(
    request: Request, ticket_id: str, number: str, error: ApiError | None
) -> Response:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> _Pair:
        source = await ticket_actions.get_ticket(tx, tenant_id, ticket_id)
        target_id = await choosing.find_id(tx, tenant_id, number)
        target = await ticket_store.find(tx, tenant_id, target_id) if target_id else None
        return _Pair(source, target)

    pair = await request.read(work)
    if error is None and number and pair.target is None:
        error = invalid([FieldFault("/into", "unknown_ticket", _UNKNOWN_NUMBER)])
    elif error is None and pair.target is not None:
        error = _find_conflict(pair.source, pair.target)
    return await render.page(
        request,
        "merging/merge.html",
        error.status if error else 200,
        source=pair.source,
        suggested=[] if pair.target else await choosing.suggest(request, pair.source.ticket),
        target=None if error else pair.target,
        number=number,
        faults=_faults(error),
        hours=rules.UNDO_HOURS,
    )


def _find_conflict(source: TicketAndCustomer, target: TicketAndCustomer) -> Conflict | None:
    try:
        rules.check_merge(source.ticket, target.ticket)
    except Conflict as error:
        return error
    return None


async def _respond_split(
    request: Request, ticket_id: str, typed: Mapping[str, str], error: ApiError | None
) -> Response:
    tenant_id, reply_id = request.caller.tenant_id, typed["reply_id"]

    async def work(tx: Tx) -> tuple[TicketAndCustomer, Reply | None, list[Reply]]:
        stored = await ticket_actions.get_ticket(tx, tenant_id, ticket_id)
        first = await replies.find(tx, tenant_id, ticket_id, reply_id)
        behind = PageRequest(_MAX_LISTED, [reply_id])
        later = first and await replies.list_replies(
            tx, tenant_id, ticket_id, behind, is_internal=None, newest_first=False
        )
        return stored, first, later or []

    stored, first, later = await request.read(work)
    return await render.page(
        request,
        "merging/split.html",
        error.status if error else 200,
        stored=stored,
        first=first,
        later=later[:_MAX_LISTED],
        subject=typed.get("subject", stored.ticket.subject),
        last_reply_id=typed.get("last_reply_id", ""),
        faults=_faults(error),
    )


def _faults(error: ApiError | None) -> dict[str, str]:
    """The message of an error by field; "" for one of no field."""
    if isinstance(error, ValidationFailed):
        return forms.faults_by_field(error)
    return {"": translate(error)} if error is not None else {}
