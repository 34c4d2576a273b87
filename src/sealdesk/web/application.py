"""The ASGI application: a request in, its guard, its handler, one answer out."""

import time
from collections.abc import Sequence

import structlog

from sealdesk import ids
from sealdesk.db import deadline
from sealdesk.errors import Missing, Refusal
from sealdesk.state import Shared
from sealdesk.web import envelope
from sealdesk.web.pages import render
from sealdesk.web.request import Answer, Call, Disconnected, Message, Receive, Scope, Send
from sealdesk.web.router import Route, Router

_COMMON = (b"x-content-type-options", b"nosniff")
_CLOSE = (b"connection", b"close")
_DRAINED_BYTES = 4 * 1024 * 1024
_UNROUTED = "unrouted"

log = structlog.get_logger("sealdesk.web")


class Application:
    """Serves the rows of the table of routes."""

    def __init__(self, routes: Sequence[Route], shared: Shared) -> None:
        self._router = Router(routes)
        self._shared = shared
        self._metrics = shared.metrics
        self._usage = shared.usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        started = time.perf_counter()
        deadline.begin()
        call = Call(scope, receive, self._shared)
        route: Route | None = None
        try:
            route, call.params = self._router.find(call.method, call.path)
            answer = await _answered(route, call)
        except Refusal as refusal:
            answer = await _refused(call, route, refusal)
        except Disconnected:
            return
        except Exception as error:
            log.exception("a request failed", request_id=call.request_id, kind=type(error).__name__)
            answer = await _refused(call, route, _internal_error())
        label = f"{route.method} {route.path}" if route else _UNROUTED
        self._metrics.note(label, answer.status, time.perf_counter() - started)
        await _send(call, answer, receive, send)
        if call.key_use is not None:
            self._usage.note(call.key_use, call.now_us, answer.status, label, call.address)


async def _answered(route: Route, call: Call) -> Answer:
    if route.guard.scheme == "session":
        await render.speak(call)
    await route.guard.prove(call)
    for identifier in call.params:
        if not ids.is_canonical(identifier):
            raise Missing
    return await route.operation.handle(call)


async def _refused(call: Call, route: Route | None, refusal: Refusal) -> Answer:
    if refusal.status == 503:
        log.warning("unavailable", request_id=call.request_id, cause=repr(refusal.__cause__))
    if route.guard.scheme == "session" if route else render.is_wanted(call):
        return await render.refused(call, refusal)
    return envelope.problem(refusal, call.path, call.request_id)


def _internal_error() -> Refusal:
    refusal = Refusal(
        "internal_error",
        "The request failed for a reason that is ours. Tell us the request_id.",
    )
    refusal.status = 500
    return refusal


async def _send(call: Call, answer: Answer, receive: Receive, send: Send) -> None:
    headers = [
        _COMMON,
        (b"x-request-id", call.request_id.encode()),
        *call.answer_headers,
        *answer.headers,
    ]
    if answer.status not in (204, 304):
        headers.append((b"content-type", answer.content_type))
        headers.append((b"content-length", str(len(answer.body)).encode()))
    closes = _CLOSE in answer.headers
    if call.shared.lifetime.is_ending and not closes:
        # So that a proxy sends no further request into a connection that will be closed.
        headers.append(_CLOSE)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": closes})
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
