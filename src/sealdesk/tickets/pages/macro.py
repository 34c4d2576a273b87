"""Puts a macro into the composer of a ticket, for browsers without scripts."""

from typing import Any

from sealdesk.errors import NotFound
from sealdesk.tickets.macros import actions as macros
from sealdesk.tickets.macros.types import AppliedMacro
from sealdesk.tickets.pages import field_form, ticket_response
from sealdesk.tickets.pages.composer_form import read_typed
from sealdesk.tickets.pages.ticket_response import RejectedForm
from sealdesk.web.operation import page
from sealdesk.web.pages import forms
from sealdesk.web.request import Request, Response


@page
async def use_macro(request: Request, ticket_id: str) -> Response:
    """The ticket with the text of a macro behind what was typed, and with what it sets chosen.

    Nothing is sent or saved.
    """
    form = forms.read(request)
    typed, chosen = read_typed(form), field_form.unsaved(form)
    try:
        applied = await request.read(
            lambda tx: macros.apply_macro(tx, request.caller, ticket_id, form.text("macro"))
        )
    except NotFound as error:
        # What was typed stays; without the ticket itself there is no page either.
        rejected = RejectedForm("reply", typed, error, before=chosen)
        return await ticket_response.respond(request, ticket_id, rejected)
    typed["body"] = "\n\n".join(text for text in (typed["body"].rstrip(), applied.text) if text)
    added = [each.id for each in applied.files]
    typed["attachment_ids"] = list(dict.fromkeys([*typed["attachment_ids"], *added]))
    typed["status"] = applied.status or typed["status"]
    chosen |= _chosen(applied, chosen)
    filled = RejectedForm("reply", typed, None, before=chosen, macro=applied)
    return await ticket_response.respond(request, ticket_id, filled)


def _chosen(applied: AppliedMacro, before: dict[str, Any]) -> dict[str, Any]:
    """The fields that go along with the reply; the status is a field of the composer itself."""
    names = ("priority", "assignee_id", "team_id")
    chosen: dict[str, Any] = {name: text for name in names if (text := getattr(applied, name))}
    if applied.tags:
        tags = [*before.get("tags", applied.ticket_tags), *applied.tags]
        chosen["tags"] = list(dict.fromkeys(tags))
    return chosen
