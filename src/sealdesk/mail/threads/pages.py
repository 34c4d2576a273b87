"""The page that says who gets the replies of a ticket by e-mail, and changes it."""

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, ValidationFailed
from sealdesk.mail.threads import actions, errors, labels
from sealdesk.mail.threads.types import MAX_PARTICIPANTS, NewParticipant, Participant
from sealdesk.resources.representation import email_identity
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.ticket.types import Ticket
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import translate
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("mail.threads", errors, labels)


@page
async def show_participants(request: Request, ticket_id: str) -> Response:
    return await _show(request, ticket_id, "", "", None)


@page
async def change_participants(request: Request, ticket_id: str) -> Response:
    """Add or remove one participant."""
    form = forms.read(request)
    removed, tenant_id = form.text("removed"), request.caller.tenant_id
    try:
        added = None if removed else _read_new(form)

        async def work(tx: Tx) -> None:
            known = await actions.get_participants(tx, tenant_id, ticket_id)
            wanted = [
                NewParticipant(each.address, each.name)
                for each in known
                if each.address_identity != email_identity(removed)
            ]
            wanted += [added] if added else []
            await actions.set_participants(
                tx, request.caller, ticket_id, wanted, now_us=request.now_us
            )

        await request.write(work)
    except (Conflict, ValidationFailed) as error:
        return await _show(request, ticket_id, form.text("email"), form.text("name"), error)
    return render.redirect(request, f"/tickets/{ticket_id}/participants")


def _read_new(form: Form) -> NewParticipant:
    name = form.text("name").strip()
    typed = {"email": form.text("email").strip(), "name": name or None}
    return body.convert(typed, NewParticipant)


async def _show(
    request: Request, ticket_id: str, email: str, name: str, error: ApiError | None
) -> Response:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[Ticket, list[Participant]]:
        ticket = (await tickets.get_ticket(tx, tenant_id, ticket_id)).ticket
        return ticket, await actions.get_participants(tx, tenant_id, ticket_id)

    ticket, participants = await request.read(work)
    faults = forms.messages(error)["faults"]
    # The fault of a mailbox's address names its place in the list.
    faults = {
        ("email" if field.startswith("participants") else field): text
        for field, text in faults.items()
    }
    return await render.page(
        request,
        "threads/participants.html",
        error.status if error else 200,
        ticket=ticket,
        participants=participants,
        most=MAX_PARTICIPANTS,
        email=email,
        name=name,
        faults=faults,
        wrong=translate(error) if isinstance(error, Conflict) else "",
    )
