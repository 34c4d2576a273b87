"""The page of the request log: Settings → API keys → Requests."""

from urllib.parse import urlencode

from sealdesk import ids
from sealdesk.api_keys import store as key_store
from sealdesk.api_keys.request_log import api, store
from sealdesk.api_keys.request_log.store import RequestQuery
from sealdesk.errors import QueryTooSlow
from sealdesk.resources.paging import LAST_ID, PageRequest
from sealdesk.telemetry.counters import LoggedRequest
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.request import Request, Response

_PER_PAGE = 50
_KEYS = PageRequest(100, None)
_CLASSES = ("2xx", "4xx", "5xx")


@page
async def list_requests(request: Request) -> Response:
    """The newest requests of all keys or of one, or the one with a request id."""
    form = forms.read_query(request)
    trail = cursor_trail.read(form, ids.is_request_id)
    typed = {name: form.text(name).strip() for name in ("key", "status", "request_id")}
    keys = await request.fetch(key_store.list_keys, _KEYS)
    rows, is_slow = await _find_rows(request, typed, trail[-1] if trail else LAST_ID)
    shown = rows[:_PER_PAGE]
    return await render.page(
        request,
        "api_keys/requests.html",
        requests=[api.shown(row) for row in shown],
        typed=typed,
        classes=_CLASSES,
        keys=keys,
        names={key.id: key.name for key in keys},
        is_slow=is_slow,
        query=urlencode({name: value for name, value in typed.items() if value}),
        older=cursor_trail.older(trail, shown[-1].id) if len(rows) > _PER_PAGE else None,
        newer=cursor_trail.newer(trail),
    )


async def _find_rows(
    request: Request, typed: dict[str, str], before: str
) -> tuple[list[LoggedRequest], bool]:
    """The requests, and whether it took too long to find them."""
    request_id = typed["request_id"]
    if request_id:
        found = await request.fetch(store.find, request_id[:24])
        return [found] if found else [], False
    asked = RequestQuery(
        limit=_PER_PAGE + 1,
        before=before,
        key_id=typed["key"] or None,
        statuses=api.read_statuses(typed["status"]) or store.ANY_STATUS,
    )
    try:
        return await api.find_requests(request, asked), False
    except QueryTooSlow:
        return [], True
