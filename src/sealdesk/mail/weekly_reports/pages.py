"""The list of one's weekly reports, and the page behind the link that ends one."""

from collections.abc import Mapping
from datetime import UTC, date, datetime

from sealdesk.db.engine import Tx
from sealdesk.errors import NotFound, ValidationFailed
from sealdesk.identity import store as identity
from sealdesk.mail.contact_form import guard
from sealdesk.mail.weekly_reports import actions, composing, links, rules, store
from sealdesk.mail.weekly_reports.types import SavedReport
from sealdesk.reports import making, naming
from sealdesk.reports import query as queries
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, i18n, render
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

PATH = "/reports/weekly"
ROOM = Room("mail.weekly_reports")
_NO_INDEX = (b"x-robots-tag", b"noindex, nofollow")


@page
async def list_reports(request: Request) -> Response:
    """The weekly reports of the user."""
    return await _list(request)


@page
async def save_report(request: Request) -> Response:
    """Send a report to the user each Monday."""
    wanted = SavedReport(
        tenant_id=request.caller.tenant_id,
        id="",
        user_id=request.caller.actor.id,
        query=queries.read(forms.read(request), _today(request)).saved(),
        language=i18n.active_language(),
        base_url=f"{render.base_url(request)}{request.state.settings.path_prefix}",
        created_at=0,
        due_at=0,
    )
    try:
        await request.write(lambda tx: actions.save(tx, wanted, now_us=request.now_us))
    except ValidationFailed as error:
        return await _list(request, error)
    return render.redirect(request, PATH)


@page
async def delete_report(request: Request, report_id: str) -> Response:
    forms.read(request)
    await request.write(
        lambda tx: actions.delete(tx, request.caller.tenant_id, request.caller.actor.id, report_id)
    )
    return render.redirect(request, PATH)


@page
async def ask_unsubscribe(request: Request, token: str) -> Response:
    """The button that ends a report. Programs open links too, so this changes nothing."""
    if refused := await guard.refuse(request):
        return refused
    try:
        tenant_id, report_id = links.open_token(request.state.key_ring, token)
    except NotFound:
        return await _respond(request, 404, state="unknown")
    report = await request.state.database.read(
        lambda tx: store.find(tx, tenant_id, report_id), tenant_id
    )
    at = f"{request.state.settings.path_prefix}{links.PATH}/{token}"
    state = "asked" if report else "ended"
    return await _respond(request, 200, tenant_id, state=state, at=at)


@page
async def unsubscribe(request: Request, token: str) -> Response:
    """End a report; a second time as well, since mail programs repeat it (RFC 8058)."""
    if refused := await guard.refuse(request):
        return refused
    try:
        tenant_id, report_id = links.open_token(request.state.key_ring, token)
    except NotFound:
        return await _respond(request, 404, state="unknown")
    await request.state.database.write(lambda tx: store.delete(tx, tenant_id, report_id), tenant_id)
    return await _respond(request, 200, tenant_id, state="ended")


async def _list(request: Request, error: ValidationFailed | None = None) -> Response:
    tenant_id = request.caller.tenant_id
    listed = await request.fetch(store.list_of_user, request.caller.actor.id, rules.MAX_OF_USER)
    shown = [(each.id, composing.read_query(each, _today(request))) for each in listed]

    async def read_names(tx: Tx) -> Mapping[str, str]:
        names = dict(await making.read_labels(tx, tenant_id))
        for _, query in shown:
            names |= await making.read_names(tx, tenant_id, query.dimension, [query.value])
        return names

    names = await request.read(read_names)
    return await forms.show(
        request,
        "weekly_reports/saved.html",
        error,
        reports=[(report_id, query, naming.describe(query, names)) for report_id, query in shown],
        path=PATH,
        lacks_mailbox=error is not None and error.faults[0].code == actions.NO_MAILBOX,
    )


def _today(request: Request) -> date:
    return datetime.fromtimestamp(request.now_us / 1_000_000, UTC).date()


async def _respond(
    request: Request, status: int, tenant_id: str = "", *, state: str, at: str = ""
) -> Response:
    tenant = await request.state.database.read(lambda tx: identity.find_tenant(tx, tenant_id))
    name = tenant.name if tenant else "Sealdesk"
    template = "weekly_reports/unsubscribe.html"
    response = await render.page(request, template, status, desk_name=name, state=state, at=at)
    response.headers.append(_NO_INDEX)
    return response
