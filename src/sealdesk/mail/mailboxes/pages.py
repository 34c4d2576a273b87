"""Settings → E-mail: mailboxes, their connection test, and blocked senders."""

from typing import Any

from sealdesk.db.engine import Tx
from sealdesk.errors import (
    ApiError,
    Conflict,
    PreconditionFailed,
    TooManyRequests,
    ValidationFailed,
)
from sealdesk.mail.blocks import actions as block_actions
from sealdesk.mail.blocks import store as block_store
from sealdesk.mail.blocks.types import Block, NewMailBlock
from sealdesk.mail.mailboxes import (
    actions,
    domain_check,
    errors,
    labels,
    mailbox_service,
    rules,
)
from sealdesk.mail.mailboxes.store import directory, mailboxes
from sealdesk.mail.mailboxes.types import (
    LANGUAGES,
    Mailbox,
    MailboxChange,
    NewMailbox,
)
from sealdesk.oauth.providers import PROVIDERS
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.ticket.store import teams
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import LANGUAGES as LANGUAGE_NAMES
from sealdesk.web.pages.i18n import gettext_noop, translate
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = render.EMAIL_PATH
NAV_ITEM = NavItem(_PATH, gettext_noop("E-mail"))
ROOM = Room("mail.mailboxes", errors, labels, NAV_ITEM, object_type="mailbox")
_PASSWORDS = ("imap_password", "smtp_password")
_TEXTS = ("address", "display_name", "signature", "receives")
_OPTIONAL = (
    *("team_id", "language", "acknowledgement"),
    *("imap_host", "imap_security", "imap_username", "imap_folder"),
    *("smtp_host", "smtp_security", "smtp_username"),
)
_NUMBERS = ("imap_port", "smtp_port", "per_minute")
_MAX_FORMER = 200  # of a page; the API lists more
_NEW = {
    **dict.fromkeys((*_TEXTS, *_OPTIONAL, *_NUMBERS, "aliases"), ""),
    "receives": "imap",
    "per_minute": "60",
    "options": (),
}


@page
async def list_mailboxes(request: Request) -> Response:
    """All mailboxes with what is wrong, and the blocked senders."""
    return await _list(request)


async def _list(request: Request, pattern: str = "", error: ApiError | None = None) -> Response:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[list[Mailbox], list[Block], list[str]]:
        blocks = await block_store.list_blocks(
            tx, tenant_id, PageRequest(block_actions.MAX_BLOCKS, None)
        )
        former = await directory.list_former(tx, tenant_id, PageRequest(_MAX_FORMER, None))
        return await mailboxes.list_all(tx, tenant_id), blocks, former

    listed, blocks, former = await request.read(work)
    return await forms.show(
        request,
        "mailboxes/mailboxes.html",
        error,
        rows=[(mailbox, rules.to_response(mailbox)) for mailbox in listed],
        most=rules.MAX_MAILBOXES,
        blocks=blocks,
        former=former[:_MAX_FORMER],
        pattern=pattern,
    )


@page
async def new_mailbox(request: Request) -> Response:
    return await _form(request, _NEW)


@page
async def create_mailbox(request: Request) -> Response:
    typed = _read_fields(forms.read(request))
    try:
        new = body.convert(_wanted(typed, None), NewMailbox)
        mailbox = await request.act(
            actions.create_mailbox, new, key_ring=request.state.key_ring, now_us=request.now_us
        )
    except (ValidationFailed, Conflict) as error:
        return await _form(request, typed, error)
    return render.redirect(request, f"{_PATH}/{mailbox.id}")


@page
async def show_mailbox(request: Request, mailbox_id: str) -> Response:
    """One mailbox with what is wrong with it."""
    return await show(request, mailbox_id)


async def show(
    request: Request, mailbox_id: str, error: ApiError | None = None, **values: Any
) -> Response:
    """The page of a mailbox, with why a form of it was refused, if one was."""
    mailbox = await request.fetch(actions.get_mailbox, mailbox_id)
    return await render.page(
        request,
        "mailboxes/mailbox.html",
        error.status if error else 200,
        mailbox=rules.to_response(mailbox),
        wrong=translate(error) if error else "",
        lacks_receiver=_lacks_receiver(request, mailbox),
        titles={name: provider.title for name, provider in PROVIDERS.items()},
        connectable=list(request.state.settings.mail.oauth_clients),
        domain_proof=domain_check.proof_of(mailbox.tenant_id),
        **values,
    )


def _lacks_receiver(request: Request, mailbox: Mailbox) -> bool:
    """Whether nobody listens for the mailbox. On PostgreSQL another process does."""
    settings = request.state.settings
    is_known = not settings.database_url and not settings.mail.host
    return mailbox.receives == "smtp" and is_known


@page
async def test_mailbox(request: Request, mailbox_id: str) -> Response:
    """Test the connection, and show each step."""
    try:
        result = await mailbox_service.test_connection(request, mailbox_id)
    except TooManyRequests as error:
        return await show(request, mailbox_id, error)
    return await show(request, mailbox_id, result=result)


@page
async def edit_mailbox(request: Request, mailbox_id: str) -> Response:
    mailbox = await request.fetch(actions.get_mailbox, mailbox_id)
    return await _form(request, _typed_of(mailbox), mailbox=mailbox)


@page
async def change_mailbox(request: Request, mailbox_id: str) -> Response:
    """Change a mailbox, unless somebody else has changed it since the form was opened."""
    mailbox, form = await request.fetch(actions.get_mailbox, mailbox_id), forms.read(request)
    typed, seen = _read_fields(form), form.text("seen")
    try:
        change = body.convert(_wanted(typed, mailbox), MailboxChange)
        await _change(request, mailbox_id, change, seen)
    except (ValidationFailed, Conflict) as error:
        return await _form(request, typed, error, mailbox, seen=seen)
    except PreconditionFailed as error:
        changed = await request.fetch(actions.get_mailbox, mailbox_id)
        return await _form(request, typed, error, changed)
    return render.redirect(request, f"{_PATH}/{mailbox.id}")


@page
async def pause_mailbox(request: Request, mailbox_id: str) -> Response:
    """Stop receiving and sending."""
    mailbox = await _change(request, mailbox_id, MailboxChange(is_paused=True))
    return render.redirect(request, f"{_PATH}/{mailbox.id}")


@page
async def resume_mailbox(request: Request, mailbox_id: str) -> Response:
    """Receive and send again."""
    try:
        mailbox = await _change(request, mailbox_id, MailboxChange(is_paused=False))
    except Conflict as error:
        return await show(request, mailbox_id, error)
    return render.redirect(request, f"{_PATH}/{mailbox.id}")


@page
async def confirm_deletion(request: Request, mailbox_id: str) -> Response:
    mailbox = await request.fetch(actions.get_mailbox, mailbox_id)
    return await render.page(request, "mailboxes/delete.html", mailbox=mailbox)


@page
async def delete_mailbox(request: Request, mailbox_id: str) -> Response:
    try:
        await request.act(actions.delete_mailbox, mailbox_id, now_us=request.now_us)
    except ValidationFailed as error:
        mailbox = await request.fetch(actions.get_mailbox, mailbox_id)
        return await render.page(request, "mailboxes/delete.html", error.status, mailbox=mailbox)
    return render.redirect(request, _PATH)


@page
async def free_address(request: Request) -> Response:
    """Let other desks have a former address."""
    address = forms.read(request).text("address")
    try:
        await request.act(actions.free_address, address, now_us=request.now_us)
    except ValidationFailed as error:
        return await _list(request, error=error)
    return render.redirect(request, f"{_PATH}#former")


@page
async def add_block(request: Request) -> Response:
    """Block a sender or a domain."""
    pattern = forms.read(request).text("pattern").strip()
    try:
        new = body.convert({"pattern": pattern}, NewMailBlock)
        await request.act(block_actions.add_block, new, now_us=request.now_us)
    except (ValidationFailed, Conflict) as error:
        return await _list(request, pattern, error)
    return render.redirect(request, f"{_PATH}#blocks")


@page
async def remove_block(request: Request) -> Response:
    """Let a sender or a domain in again."""
    pattern = forms.read(request).text("pattern")
    await request.act(block_actions.remove_block, pattern, now_us=request.now_us)
    return render.redirect(request, f"{_PATH}#blocks")


async def count_failing(request: Request) -> int:
    """How many mailboxes of the desk do not work; shown on the pages of administrators."""
    return await request.fetch(mailboxes.count_failing)


async def _change(
    request: Request, mailbox_id: str, change: MailboxChange, seen: str = ""
) -> Mailbox:
    return await request.act(
        actions.change_mailbox,
        mailbox_id,
        change,
        key_ring=request.state.key_ring,
        if_match=None,
        now_us=request.now_us,
        seen=seen,
    )


def _typed_of(mailbox: Mailbox) -> dict[str, Any]:
    """The fields of the form; a password is never among them."""
    names = (*_TEXTS, *_OPTIONAL, *_NUMBERS)
    typed: dict[str, Any] = {
        name: "" if (it := getattr(mailbox, name)) is None else str(it) for name in names
    }
    typed |= {"aliases": "\n".join(mailbox.aliases), "options": mailbox.options}
    for protocol, usual in rules.USUAL_PORTS.items():
        # Left out, so that a choice of another security brings its own port.
        if typed[f"{protocol}_port"] == str(usual.get(typed[f"{protocol}_security"])):
            typed[f"{protocol}_port"] = ""
    return typed


def _read_fields(form: Form) -> dict[str, Any]:
    """The fields as they were typed."""
    typed: dict[str, Any] = {
        name: form.text(name).strip() for name in (*_TEXTS, *_OPTIONAL, *_NUMBERS)
    }
    typed |= {name: form.text(name) for name in ("aliases", *_PASSWORDS)}
    return typed | {"options": form.texts("options")}


def _wanted(typed: dict[str, Any], mailbox: Mailbox | None) -> dict[str, Any]:
    """The same as the body of an API request. An empty password keeps the stored one."""
    wanted: dict[str, Any] = {name: typed[name] for name in _TEXTS}
    wanted |= {name: typed[name] or None for name in _OPTIONAL}
    wanted |= {"aliases": typed["aliases"].split(), "options": typed["options"]}
    for name in _NUMBERS:
        wanted[name] = forms.number(typed[name])
    wanted["per_minute"] = wanted["per_minute"] or rules.DEFAULT_PER_MINUTE
    for name in _PASSWORDS:
        has_log_in = typed[name.replace("password", "username")] != ""
        if typed[name] or (mailbox is not None and not has_log_in):
            wanted[name] = typed[name] or None
    return wanted


async def _form(
    request: Request,
    typed: dict[str, Any],
    error: ApiError | None = None,
    mailbox: Mailbox | None = None,
    seen: str = "",
) -> Response:
    """The form with what was typed, without passwords, and a message beside each invalid field.

    seen: the version with which it was opened; "" for that of the mailbox.
    """
    listed = await request.fetch(teams.list_choices, typed["team_id"])
    return await forms.show(
        request,
        "mailboxes/form.html",
        error,
        mailbox=mailbox,
        seen=seen or (mailbox.version if mailbox else ""),
        typed=typed,
        teams=listed,
        mail_languages=[(code, LANGUAGE_NAMES[code]) for code in LANGUAGES],
    )
