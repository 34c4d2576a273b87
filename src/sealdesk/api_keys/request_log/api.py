"""The request log as JSON."""

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from sealdesk import clock, ids
from sealdesk.api_keys.request_log import store
from sealdesk.api_keys.request_log.store import RequestQuery
from sealdesk.clock import Iso
from sealdesk.errors import NotFound, must_exist
from sealdesk.errors.general import QUERY_TOO_SLOW
from sealdesk.ids import Id
from sealdesk.telemetry.counters import LoggedRequest
from sealdesk.web import envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, page, read_list
from sealdesk.web.query import BadValue, Param
from sealdesk.web.request import Request, Response

_TAG = "API keys"
_STATUS = re.compile(r"[1-5](xx|\d\d)", re.ASCII)

RequestId = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{24}$"})]


class LoggedRequestResponse(msgspec.Struct, frozen=True):
    """A request of an API key; never its body.

    request_id: the header x-request-id of its response, and `request_id` of an error.
    target: path and query; each value of the query is replaced by `*`.
    duration_ms: until the response began. cpu_ms: of these, how long the service worked for it, in
    threads too; null of what an earlier version has logged. response_bytes: of its body.
    requested_at: to the millisecond.
    """

    request_id: RequestId
    key_id: Id
    method: str
    target: str
    status: int
    duration_ms: float
    cpu_ms: float | None
    response_bytes: int
    requested_at: Iso


_EXAMPLE = LoggedRequestResponse(
    request_id="0199c0f188aa7b3c9d4e5f60",
    key_id="0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    method="GET",
    target="/api/v1/external/tickets?status=*",
    status=200,
    duration_ms=1.874,
    cpu_ms=0.412,
    response_bytes=4711,
    requested_at="2025-10-07T12:00:00.170000Z",
)


def read_statuses(text: str) -> tuple[int, int] | None:
    """The first and the last status that `404` or `4xx` names; None for anything else."""
    if _STATUS.fullmatch(text) is None:
        return None
    return int(text.replace("xx", "00")), int(text.replace("xx", "99"))


def _read_status(text: str) -> str:
    if read_statuses(text) is None:
        raise BadValue("a status such as 404, or 2xx, 4xx or 5xx")
    return text


_BY_KEY = query.identifier("key_id", "Requests of this key.")
_BY_STATUS = Param(
    "status",
    "Requests with this status, or with a status of this class, as in `4xx`.",
    _read_status,
    {"type": "string", "pattern": "^[1-5](xx|[0-9]{2})$"},
    str,
    "4xx",
)
_SINCE = query.instant("since", "Requests from this time on.")
_FILTERS = (_BY_KEY, _BY_STATUS, _SINCE)


@operation(
    "List requests",
    tag=_TAG,
    gives=_EXAMPLE,
    is_list=True,
    params=(*_FILTERS, *PAGING),
    fails=(QUERY_TOO_SLOW,),
)
async def list_requests(request: Request) -> Response:
    """The requests of the tenant's API keys in the last 7 days, the newest 100,000, newest first.
    A request is in the list some seconds after its response. Bodies are never stored."""
    list_request = read_list(request, _FILTERS)
    values = list_request.values
    asked = RequestQuery(
        limit=list_request.page.per_page + 1,
        before=list_request.page.before,
        since=ids.lowest_request_id(values["since"]) if "since" in values else "",
        key_id=values.get("key_id"),
        statuses=read_statuses(values.get("status", "")) or store.ANY_STATUS,
    )
    rows = await find_requests(request, asked)
    return page(request, list_request, rows, show=_encode)


async def find_requests(request: Request, asked: RequestQuery) -> list[LoggedRequest]:
    """The requests of a list. Raises QueryTooSlow."""
    tenant_id = request.caller.tenant_id
    read = request.read if asked.is_served() else request.read_unindexed
    return await read(lambda tx: store.list_requests(tx, tenant_id, asked))


@operation("Get a request", tag=_TAG, gives=_EXAMPLE)
async def get_request(request: Request, request_id: str) -> Response:
    """The request whose response had this `x-request-id`."""
    if not ids.is_request_id(request_id):
        raise NotFound
    found = must_exist(await request.fetch(store.find, request_id))
    return envelope.one(shown(found))


def shown(logged: LoggedRequest) -> LoggedRequestResponse:
    """A request as the API shows it."""
    return LoggedRequestResponse(
        request_id=logged.id,
        key_id=logged.key_id,
        method=logged.method,
        target=logged.target,
        status=logged.status,
        duration_ms=logged.duration_us / 1000,
        cpu_ms=None if logged.cpu_us is None else logged.cpu_us / 1000,
        response_bytes=logged.response_bytes,
        requested_at=clock.iso(ids.instant_of_request(logged.id)),
    )


def _encode(logged: LoggedRequest) -> bytes:
    return msgspec.json.encode(shown(logged))
