"""The ASGI application: a request in, its guard, its handler, one answer out."""

import time
from collections.abc import Sequence

import structlog

from sealdesk import ids
from sealdesk.db import deadline
from sealdesk.errors import ApiError, NotFound
from sealdesk.state import AppState
from sealdesk.web import envelope
from sealdesk.web.pages import error_pages, language
from sealdesk.web.pages.site import Site
from sealdesk.web.request import Disconnected, Message, Receive, Request, Response, Scope, Send
from sealdesk.web.router import Route, Router

_COMMON = (b"x-content-type-options", b"nosniff")
_CLOSE = (b"connection", b"close")
_DRAINED_BYTES = 4 * 1024 * 1024
_UNROUTED = "unrouted"

log = structlog.get_logger("sealdesk.web")


class Application:
    """Serves the rows of the table of routes."""

    def __init__(self, routes: Sequence[Route], state: AppState, site: Site) -> None:
        self._router = Router(routes)
        self._site = site
        self._state = state
        self._metrics = state.metrics
        self._usage = state.key_usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        started = time.perf_counter()
        deadline.start()
        request = Request(scope, receive, self._state, self._site)
        route: Route | None = None
        try:
            route, request.params = self._router.find(request.method, request.path)
            response = await _answered(route, request)
        except ApiError as refusal:
            response = await _refused(request, route, refusal)
        except Disconnected:
            return
        except Exception as error:
            log.exception(
                "a request failed", request_id=request.request_id, kind=type(error).__name__
            )
            response = await _refused(request, route, _internal_error())
        label = f"{route.method} {route.path}" if route else _UNROUTED
        self._metrics.note(label, response.status, time.perf_counter() - started)
        await _send(request, response, receive, send)
        key_use = request.proof.key_use
        if key_use is not None:
            self._usage.note(key_use, request.now_us, response.status, label, request.address)


async def _answered(route: Route, request: Request) -> Response:
    if route.guard.scheme == "session":
        language.activate(request)
    request.proof = await route.guard.prove(request)
    if request.proof.refusal is not None:
        raise request.proof.refusal
    for identifier in request.params:
        if not ids.is_canonical(identifier):
            raise NotFound
    return await route.operation.handle(request)


async def _refused(request: Request, route: Route | None, refusal: ApiError) -> Response:
    if refusal.status == 503:
        log.warning("unavailable", request_id=request.request_id, cause=repr(refusal.__cause__))
    if route.guard.scheme == "session" if route else error_pages.prefers_html(request):
        return await error_pages.error_page(request, refusal)
    return envelope.problem(refusal, request.path, request.request_id)


def _internal_error() -> ApiError:
    refusal = ApiError(
        "internal_error",
        "The request failed for a reason that is ours. Tell us the request_id.",
    )
    refusal.status = 500
    return refusal


async def _send(request: Request, response: Response, receive: Receive, send: Send) -> None:
    headers = [
        _COMMON,
        (b"x-request-id", request.request_id.encode()),
        *request.proof.response_headers,
        *request.response_headers,
        *response.headers,
    ]
    if response.status not in (204, 304):
        headers.append((b"content-type", response.content_type))
        headers.append((b"content-length", str(len(response.body)).encode()))
    closes = _CLOSE in response.headers
    if request.state.lifetime.is_draining and not closes:
        # So that a proxy sends no further request into a connection that will be closed.
        headers.append(_CLOSE)
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": closes})
    if closes:
        await _drain(receive)
        await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    """Take in some of what is still coming: closing on unread bytes would reset the connection,
    and the client might never see the answer."""
    size = 0
    while size < _DRAINED_BYTES:
        message: Message = await receive()
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return
