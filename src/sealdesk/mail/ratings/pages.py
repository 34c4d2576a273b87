"""The page behind a link that asks for a rating; only sending its form changes anything."""

from typing import Any

from sealdesk.errors import NotFound, ValidationFailed
from sealdesk.mail.contact_form import guard
from sealdesk.mail.ratings import actions, errors, labels, links
from sealdesk.mail.ratings.actions import LinkedTicket
from sealdesk.mail.ratings.links import Opened
from sealdesk.mail.ratings.types import MARKS, MAX_COMMENT, Rating
from sealdesk.mail.threads.redaction import redact
from sealdesk.rate_limits.limiter import Budget
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("mail.ratings", errors, labels)

_FORMS_PER_MINUTE = 6  # of one ticket
_NO_INDEX = (b"x-robots-tag", b"noindex, nofollow")


@page
async def show(request: Request, token: str) -> Response:
    """The form with the five marks. Programs open links too, so this changes nothing."""
    if refused := await guard.refuse(request):
        return refused
    try:
        linked = await _find(request, links.open_token(request.state.key_ring, token))
    except NotFound:
        return await _respond(request, "over.html", 404, state="unknown")
    if linked.state != "open":
        return await _over(request, linked)
    mark = forms.read_query(request).text("rating")
    return await _show(request, token, linked, {"rating": mark, "comment": ""})


@page
async def rate(request: Request, token: str) -> Response:
    """Store the mark and the comment, once."""
    if refused := await guard.refuse(request):
        return refused
    try:
        opened = links.open_token(request.state.key_ring, token)
        linked = await _find(request, opened)
    except NotFound:
        return await _respond(request, "over.html", 404, state="unknown")
    budget = Budget(f"rating:{opened.ticket_id}", _FORMS_PER_MINUTE)
    if refused := await guard.refuse_over(request, budget):
        return refused
    await request.read_body()
    form = forms.read(request)
    typed = {"rating": form.text("rating"), "comment": form.text("comment").strip()}
    if linked.state != "open":
        return await _over(request, linked)
    try:
        given = body.convert({**typed, "rating": forms.number(typed["rating"])}, Rating)
    except ValidationFailed as error:
        return await _show(request, token, linked, typed, error)
    return await _store(request, opened, given)


async def _find(request: Request, opened: Opened) -> LinkedTicket:
    key_ring, now_us = request.state.key_ring, request.now_us
    return await request.state.database.read(
        lambda tx: actions.get_linked_ticket(tx, opened, key_ring, now_us), opened.tenant_id
    )


async def _store(request: Request, opened: Opened, given: Rating) -> Response:
    key_ring, now_us = request.state.key_ring, request.now_us
    linked = await request.state.database.write(
        lambda tx: actions.rate(tx, opened, given, key_ring, now_us), opened.tenant_id
    )
    if linked.state != "open":
        return await _over(request, linked)
    return await _respond(request, "thanks.html", 200, linked.desk_name)


async def _show(
    request: Request,
    token: str,
    linked: LinkedTicket,
    typed: dict[str, str],
    error: ValidationFailed | None = None,
) -> Response:
    return await _respond(
        request,
        "rate.html",
        422 if error else 200,
        linked.desk_name,
        at=f"{request.state.settings.path_prefix}{links.PATH}/{token}",
        subject=redact(linked.stored.ticket.subject, linked.secrets),
        marks=MARKS,
        most=MAX_COMMENT,
        typed=typed,
        faults=forms.faults_by_field(error) if error else {},
    )


async def _over(request: Request, linked: LinkedTicket) -> Response:
    return await _respond(request, "over.html", 410, linked.desk_name, state=linked.state)


async def _respond(
    request: Request, template: str, status: int, desk_name: str = "Sealdesk", **values: Any
) -> Response:
    response = await render.page(
        request, f"ratings/{template}", status, desk_name=desk_name, **values
    )
    response.headers.append(_NO_INDEX)
    return response
