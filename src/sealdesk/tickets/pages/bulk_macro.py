"""A macro for several tickets of the inbox: which one, what it does to each, then the results."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, NotFound
from sealdesk.tickets.macros import actions as macros
from sealdesk.tickets.macros import rules as macro_rules
from sealdesk.tickets.macros import store as macro_store
from sealdesk.tickets.macros.types import AppliedMacro, Macro, MacroChoice
from sealdesk.tickets.pages import bulk
from sealdesk.tickets.pages.bulk import Line
from sealdesk.tickets.store.tickets import TicketAndCustomer
from sealdesk.tickets.types import TicketChange
from sealdesk.tickets.views import inbox_query
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.request import Request, Response


class _Chosen(NamedTuple):
    """The selected tickets, and the macro; None until one is chosen. first: what it does to the
    first ticket that it changes."""

    lines: Sequence[Line]
    macro: Macro | None = None
    choices: Sequence[MacroChoice] = ()
    first: AppliedMacro | None = None


@page
async def use_macro(request: Request) -> Response:
    """Ask for a macro, show what it does, and use it on each ticket once that is confirmed."""
    form = forms.read(request)
    ticket_ids, confirmed = bulk.read_selected(form)
    chosen = await _load(request, ticket_ids, form.text("macro"))
    if not ticket_ids or len(form.texts("ticket")) > bulk.MAX_TICKETS:
        return await _respond(request, "tickets/bulk_macro.html", 422, chosen)
    if chosen.macro is None or not confirmed:
        return await _respond(request, "tickets/bulk_macro.html", 200, chosen)
    etags = [confirmed[line.id] for line in chosen.lines]
    lines = [
        await _use(request, line._replace(etag=etag), chosen.macro.id)
        for line, etag in zip(chosen.lines, etags, strict=True)
    ]
    return await _respond(
        request, "tickets/bulk_macro_done.html", 200, _Chosen(lines, chosen.macro)
    )


async def _load(request: Request, ticket_ids: Sequence[str], macro_id: str) -> _Chosen:
    caller = request.caller

    async def work(tx: Tx) -> _Chosen:
        macro = await macro_store.find(tx, caller.tenant_id, macro_id, caller.actor.id)
        tickets = await bulk.load_short(tx, caller.tenant_id, ticket_ids)
        if macro is None:
            choices = await macro_store.list_choices(tx, caller.tenant_id, caller.actor.id)
            return _Chosen(
                [Line(each, stored, "", "") for each, stored in tickets.items()], None, choices
            )
        lines, first = list[Line](), None
        for ticket_id, stored in tickets.items():
            line, applied = await _preview(tx, request, ticket_id, stored, macro)
            lines.append(line)
            first = first or applied
        return _Chosen(lines, macro, first=first)

    return await request.read(work)


async def _preview(
    tx: Tx, request: Request, ticket_id: str, stored: TicketAndCustomer | None, macro: Macro
) -> tuple[Line, AppliedMacro | None]:
    """Whether and why a macro would not be used on a ticket as it is now, and what it does."""
    if stored is None:
        return Line(ticket_id, None, "", bulk.reason_of(NotFound())), None
    line = Line(ticket_id, stored, stored.etag, "")
    if stored.ticket.status == "closed" or stored.ticket.merged_into_id is not None:
        return line._replace(reason=gettext("It is closed. Open it first.")), None
    applied = await macros.apply_macro(tx, request.caller, ticket_id, macro.id)
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
    return line


async def _respond(request: Request, template: str, status: int, chosen: _Chosen) -> Response:
    query = inbox_query.read_inbox_query(forms.read_query(request))
    return await render.page(
        request,
        template,
        status,
        selected=len(forms.read(request).texts("ticket")),
        most=bulk.MAX_TICKETS,
        back=query.link(),
        action=query.bulk_macro(),
        lines=chosen.lines,
        changed=[line for line in chosen.lines if not line.reason],
        unchanged=[line for line in chosen.lines if line.reason],
        macro=chosen.macro,
        choices=chosen.choices,
        applied=chosen.first,
    )
