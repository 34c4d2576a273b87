"""A macro for several tickets of the inbox: which one, what it does to each, then the results."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, must_exist
from sealdesk.tickets.macros import actions as macros
from sealdesk.tickets.macros import rules as macro_rules
from sealdesk.tickets.macros import store as macro_store
from sealdesk.tickets.macros.types import AppliedMacro, Macro, MacroChoice, Reader
from sealdesk.tickets.pages import bulk
from sealdesk.tickets.pages.bulk import Line
from sealdesk.tickets.ticket.types import TicketChange
from sealdesk.tickets.views import inbox_query
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.request import Request, Response


class _Chosen(NamedTuple):
    """The selected tickets, and the macro; None until one is chosen. first: what it does to the
    first ticket that it changes."""

    lines: Sequence[Line] = ()
    macro: Macro | None = None
    choices: Sequence[MacroChoice] = ()
    first: AppliedMacro | None = None


@page
async def use_macro(request: Request) -> Response:
    """Ask for a macro, show what it does, and use it on each ticket once that is confirmed."""
    form = forms.read(request)
    ticket_ids, confirmed = bulk.read_selected(form)
    selected = len(confirmed or form.texts("ticket"))
    if not 0 < selected <= bulk.MAX_TICKETS:
        return await _respond(request, "tickets/bulk_macro.html", 422, _Chosen(), selected)
    chosen = await _load(request, ticket_ids, form.text("macro"))
    # What was shown is what is sent: a macro that has changed since is shown again.
    if chosen.macro is None or form.text("seen") != str(chosen.macro.updated_at):
        return await _respond(request, "tickets/bulk_macro.html", 200, chosen, selected)
    lines = [
        await _use(request, line._replace(etag=confirmed[line.id]), chosen.macro.id)
        for line in chosen.lines
        if line.id in confirmed
    ]
    done = _Chosen(lines, chosen.macro)
    return await _respond(request, "tickets/bulk_macro_done.html", 200, done, selected)


async def _load(request: Request, ticket_ids: Sequence[str], macro_id: str) -> _Chosen:
    caller = request.caller

    async def work(tx: Tx) -> _Chosen:
        macro = await macro_store.find(tx, caller.tenant_id, macro_id, Reader(caller.actor.id))
        tickets = await bulk.load_short(tx, caller.tenant_id, ticket_ids)
        if macro is None:
            choices = await macro_store.list_choices(tx, caller.tenant_id, Reader(caller.actor.id))
            return _Chosen(
                [Line(each, stored, "", "") for each, stored in tickets.items()], None, choices
            )
        previewed = [
            await _preview(
                tx, request, Line(each, stored, stored.etag if stored else "", ""), macro
            )
            for each, stored in tickets.items()
        ]
        first = next((applied for _, applied in previewed if applied is not None), None)
        return _Chosen([line for line, _ in previewed], macro, first=first)

    return await request.read(work)


async def _preview(
    tx: Tx, request: Request, line: Line, macro: Macro
) -> tuple[Line, AppliedMacro | None]:
    """What a macro does to a ticket as it is now, else the reason why it is not used on it."""
    try:
        ticket = must_exist(line.stored).ticket
        applied = await macros.apply_macro(tx, request.caller, line.id, macro.id)
        await macros.check_use(tx, ticket, applied, request.now_us)
    except ApiError as error:
        return line._replace(reason=bulk.reason_of(error)), None
    if not applied.text and macro_rules.change_of(applied) == TicketChange():
        return line._replace(reason=gettext("It already has these values.")), None
    return line, applied


async def _use(request: Request, line: Line, macro_id: str) -> Line:
    """Use the macro in a transaction of its own, so that its failure does not stop the others."""
    try:
        await request.act(
            macros.use_macro, line.id, macro_id, if_match=line.etag, now_us=request.now_us
        )
    except ApiError as error:
        return line._replace(reason=bulk.reason_of(error))
    return line._replace(reason="")


async def _respond(
    request: Request, template: str, status: int, chosen: _Chosen, selected: int
) -> Response:
    query = inbox_query.read_inbox_query(forms.read_query(request))
    macro, applied = chosen.macro, chosen.first
    return await render.page(
        request,
        template,
        status,
        selected=selected,
        most=bulk.MAX_TICKETS,
        back=query.link(),
        action=query.bulk_macro(),
        lines=chosen.lines,
        changed=[line for line in chosen.lines if not line.reason],
        unchanged=[line for line in chosen.lines if line.reason],
        macro=macro,
        choices=chosen.choices,
        applied=applied,
        change=macro_rules.wanted_by(macro, request.caller.actor.id) if macro else None,
        unset=UNSET,
    )
