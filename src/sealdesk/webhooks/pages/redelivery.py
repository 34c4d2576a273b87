"""Settings → Webhooks: sending the failed deliveries of a period again."""

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, ValidationFailed
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext, gettext_noop, translate
from sealdesk.web.request import Request, Response
from sealdesk.webhooks import actions, redelivery, rules
from sealdesk.webhooks.types import Endpoint, NewRedelivery

_PATH = "/settings/webhooks"
_HOURS = {
    "hour": (1, gettext_noop("The last hour")),
    "day": (24, gettext_noop("The last 24 hours")),
    "week": (7 * 24, gettext_noop("The last 7 days")),
    "month": (30 * 24, gettext_noop("The last 30 days")),
}
_HOUR_US = 3600 * 1_000_000


@page
async def redelivery_form(request: Request, endpoint_id: str) -> Response:
    """The periods, each with the number of its failed deliveries."""
    return await _form(request, endpoint_id)


@page
async def redeliver_failed(request: Request, endpoint_id: str) -> Response:
    """Send the failed deliveries of a period again; the form once more while some are left."""
    period = forms.read(request).text("period")
    if period not in _HOURS:
        return await _form(request, endpoint_id, status=422)
    new = NewRedelivery(clock.iso(_since(period, request.now_us)))
    try:
        restarted = await request.act(
            redelivery.redeliver_failed, endpoint_id, new, now_us=request.now_us
        )
    except (ValidationFailed, Conflict) as error:
        return await _form(request, endpoint_id, period, error=error)
    more = f"/redeliver-failed?period={period}" if restarted.has_more else ""
    return render.redirect(request, f"{_PATH}/{endpoint_id}{more}")


def _since(period: str, now_us: int) -> int:
    return now_us - _HOURS[period][0] * _HOUR_US


async def _form(
    request: Request,
    endpoint_id: str,
    chosen: str = "",
    *,
    error: ApiError | None = None,
    status: int = 200,
) -> Response:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[Endpoint, list[int]]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        sinces = [_since(period, request.now_us) for period in _HOURS]
        return endpoint, await redelivery.count_failed(tx, tenant_id, endpoint_id, sinces)

    endpoint, counts = await request.read(work)
    named = zip(_HOURS.items(), counts, strict=True)
    return await render.page(
        request,
        "webhooks/redeliver_failed.html",
        error.status if error else status,
        webhook=rules.endpoint_response(endpoint, request.now_us),
        periods=[(period, gettext(words), count) for (period, (_, words)), count in named],
        most=redelivery.MOST,
        chosen=chosen or forms.read_query(request).text("period") or "day",
        wrong=translate(error) if error else "",
    )
