"""How a mailbox gets the consent of its account: at a provider, or by an application of its own."""

from sealdesk.errors import ApiError, Conflict, NotFound, ValidationFailed
from sealdesk.mail.mailboxes import actions, consents, pages, rules
from sealdesk.mail.mailboxes.types import Mailbox, NewApplication
from sealdesk.oauth.providers import PROVIDERS
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response

_OF_APPLICATION = ("directory", "client_id", "client_secret")


@page
async def connect_mailbox(request: Request, mailbox_id: str) -> Response:
    """Lead to the provider, which asks for consent. Raises NotFound for one without a client."""
    if request.proof.pending_refusal is not None:
        return await pages.show(request, mailbox_id, request.proof.pending_refusal)
    chosen = forms.read(request).text("provider")
    name = next((n for n in request.state.settings.mail.oauth_clients if n == chosen), None)
    if name is None:
        raise NotFound
    mailbox = await request.fetch(actions.get_mailbox, mailbox_id)
    began = consents.begin(request, mailbox, name)
    # A link, because the policy of pages lets no form lead to another site.
    response = await render.page(
        request,
        "mailboxes/connect.html",
        mailbox=mailbox,
        title=PROVIDERS[name].title,
        url=began.url,
    )
    response.headers.append(began.cookie)
    return response


@page
async def take_consent(request: Request) -> Response:
    """Connect the mailbox for which a provider sends the browser back.

    Raises NotFound, Conflict for an answer that this browser has not asked for.
    """
    answer = forms.read_query(request)
    mailbox_id = consents.asked_mailbox(request, answer)
    try:
        consent = await consents.take(request, answer)
        await request.act(
            actions.connect_mailbox,
            mailbox_id,
            consent,
            key_ring=request.state.key_ring,
            now_us=request.now_us,
        )
        response = render.redirect(request, f"{render.EMAIL_PATH}/{mailbox_id}")
    except Conflict as error:
        response = await pages.show(request, mailbox_id, error)
    response.headers.append(consents.end(request))
    return response


@page
async def show_application(request: Request, mailbox_id: str) -> Response:
    """The form of an application at Microsoft with which the mailbox logs in by itself."""
    mailbox = await request.fetch(actions.get_mailbox, mailbox_id)
    return await _application_form(request, mailbox, dict.fromkeys(_OF_APPLICATION, ""))


@page
async def connect_application(request: Request, mailbox_id: str) -> Response:
    """Connect the mailbox with an application of its own, which the test then tries."""
    mailbox = await request.fetch(actions.get_mailbox, mailbox_id)
    form = forms.read(request)
    typed = {name: form.text(name).strip() for name in _OF_APPLICATION}
    try:
        await request.act(
            actions.connect_mailbox,
            mailbox_id,
            rules.consent_of(mailbox, body.convert(typed, NewApplication)),
            key_ring=request.state.key_ring,
            now_us=request.now_us,
        )
    except (ValidationFailed, Conflict) as error:
        return await _application_form(request, mailbox, typed, error)
    return render.redirect(request, f"{render.EMAIL_PATH}/{mailbox_id}")


async def _application_form(
    request: Request, mailbox: Mailbox, typed: dict[str, str], error: ApiError | None = None
) -> Response:
    return await forms.show(
        request, "mailboxes/application.html", error, mailbox=mailbox, typed=typed
    )
