"""The ASGI application: routes each request through its guard to its handler."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from sealdesk import ids
from sealdesk.db.deadline import UNINDEXED_READ_UNITS, deadline
from sealdesk.errors import ApiError, InternalError, MethodNotAllowed, NotFound, ServiceUnavailable
from sealdesk.errors.general import (
    NO_SUCH_PATH,
    SIMILAR_PATH,
    TENANT_RATE_LIMIT_EXCEEDED,
    TOO_MANY_BYTES,
)
from sealdesk.errors.requests import METHOD_NOT_ALLOWED
from sealdesk.rate_limits.byte_budget import UNCOUNTED_BYTES
from sealdesk.rate_limits.limiter import check_tenant
from sealdesk.state import AppState
from sealdesk.telemetry.counters import KeyUse, LoggedRequest, describe_target
from sealdesk.web import body, conditional, envelope, query, sending
from sealdesk.web.operation import EVENT_STREAM, Route
from sealdesk.web.pages import error_pages, preferences
from sealdesk.web.pages.site import Site
from sealdesk.web.request import Disconnected, Header, Receive, Request, Response, Scope, Send

_MAX_NAMED_PATH = 200
_NOSNIFF = (b"x-content-type-options", b"nosniff")
_CLOSE = (b"connection", b"close")
# The request headers that a response depends on, by the scheme of its guard.
_VARY: dict[str, tuple[Header, ...]] = {
    "hmac": ((b"vary", b"x-api-key"),),
    "jwt": ((b"vary", b"authorization, x-tenant-id"),),
    "session": ((b"vary", b"cookie, accept-language"),),
    "none": (),
}
# Work of a request beyond its first unit (decision 0030).
_BYTES_PER_UNIT = 16 * 1024
_STREAMED_BYTES_PER_UNIT = 256 * 1024  # copied only, neither parsed nor made (decision 0051)
_STEPS_PER_UNIT = 100  # of rendering: 0.1 to 0.7 ms (decision 0057)
_LARGE_BYTES = 64 * 1024  # of a response, which takes as long to send as a short piece
_REFUSAL_DELAY_S = 0.5
_UNROUTED = "unrouted"
_READS = ("GET", "HEAD")

log = logging.getLogger("sealdesk.web")


class Application:
    """Serves a table of routes. lifespan: starts and stops the background tasks."""

    def __init__(
        self,
        routes: Sequence[Route],
        state: AppState,
        site: Site,
        lifespan: Callable[[Receive, Send], Awaitable[None]] | None = None,
    ) -> None:
        self._router = _Router(routes)
        self._lifespan = lifespan
        self._site = site
        self._state = state
        self._responses = state.metrics.responses
        self._usage = state.key_usage
        self._request_log = state.request_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one HTTP request, or run the lifespan (ASGI 3)."""
        if scope["type"] != "http":
            if self._lifespan is not None and scope["type"] == "lifespan":
                await self._lifespan(receive, send)
            return
        started = time.perf_counter()
        request = Request(scope, receive, self._state, self._site)
        waits = request.turn.deadline
        deadline.set(waits)
        route: Route | None = None
        params: tuple[str, ...] = ()
        try:
            route, params = self._router.find(request.method, request.path)
            if not route.takes_names:
                params = _lower_ids(request, params)
            response = await _handle(route, request, params)
        except ApiError as error:
            if error.problem_type is TENANT_RATE_LIMIT_EXCEEDED:
                await _delay_refusal(request)
            if route is None:
                await self._find_reader(request)
            response = await _error_response(request, route, error)
        except Disconnected:
            return
        except Exception as error:
            log.exception(
                "a request failed",
                extra={"request_id": request.request_id, "kind": type(error).__name__},
            )
            response = await _error_response(request, route, InternalError())
        label = f"{route.method} {route.path}" if route else _UNROUTED
        duration_s = time.perf_counter() - started
        beside_s = waits.beside_ns / 1e9
        loop_s = min(request.turn.loop_s, duration_s)  # its first piece began somewhat earlier
        self._responses.count(label, response.status, duration_s, loop_s, beside_s)
        _charge_work(request, response, waits.unindexed_reads)
        await _send(request, route, response, receive, send)
        key_use = request.proof.key_use
        if key_use is not None:
            self._usage.note(key_use, request.real_now_us, response.status, label, request.address)
            path = _logged_path(request, route, params)
            self._request_log.add(
                _logged(request, path, key_use, response, duration_s, loop_s + beside_s)
            )

    async def _find_reader(self, request: Request) -> None:
        """Who is logged in keeps the sidebar of the desk on the page of a path without a route."""
        if request.method in _READS and error_pages.prefers_html(request):
            with suppress(ApiError):
                home, _ = self._router.find("GET", self._site.home)
                await _prove(home, request)


def _lower_ids(request: Request, params: tuple[str, ...]) -> tuple[str, ...]:
    """The ids of a path in lower case, also in `request.path`.

    Cursors and Idempotency-Keys belong to a path, however its ids were written.
    """
    lowered = tuple(map(ids.in_lower_case, params))
    for sent, lower in zip(params, lowered, strict=True):
        if sent != lower:
            request.path = request.path.replace(sent, lower)
    return lowered


def _logged_path(request: Request, route: Route | None, params: tuple[str, ...]) -> str:
    has_ids = all(map(ids.is_canonical, params))  # a name may be an e-mail address
    return route.path if route and not has_ids else request.path


def _logged(
    request: Request,
    path: str,
    key: KeyUse,
    response: Response,
    duration_s: float,
    work_s: float,
) -> LoggedRequest:
    size = response.file.size if response.file else len(response.body)
    return LoggedRequest(
        key.tenant_id,
        request.request_id,
        key.key_id,
        request.method,
        describe_target(path, request.query),
        response.status,
        int(duration_s * 1_000_000),
        size,
        int(work_s * 1_000_000),
    )


class _Node:
    """A segment of the paths: the segments that may follow it, and its routes by method."""

    __slots__ = ("children", "routes", "wildcard")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.wildcard: _Node | None = None
        self.routes: dict[str, Route] = {}


class _Router:
    """Finds a route by the raw path: `%2F` is not a separator, and slashes are not normalised."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._root = _Node()
        for route in routes:
            node = self._root
            for segment in route.path.split("/"):
                node = self._step(node, segment)
            if route.method in node.routes:
                raise ValueError(f"two routes for {route.method} {route.path}")
            node.routes[route.method] = route

    @staticmethod
    def _step(node: _Node, segment: str) -> _Node:
        if not segment.startswith("{"):
            return node.children.setdefault(segment, _Node())
        if node.wildcard is None:
            node.wildcard = _Node()
        return node.wildcard

    def find(self, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """The route, and the values of its path parameters. Raises NotFound, MethodNotAllowed."""
        node, params = self._follow(path)
        if node is None or not node.routes:
            raise self._no_such_path(path)
        route = node.routes.get("GET" if method == "HEAD" else method)
        if route is None:
            is_list = path.endswith("/")
            raise self._no_such_path(path) if is_list else _wrong_method(method, node.routes)
        return route, params

    def _follow(self, path: str) -> tuple[_Node | None, tuple[str, ...]]:
        node: _Node | None = self._root
        params: tuple[str, ...] = ()
        for segment in path.split("/"):
            if node is None:
                break
            next_node = node.children.get(segment)
            if next_node is None:
                next_node = node.wildcard
                params = (*params, segment)
            node = next_node
        return node, params

    def _no_such_path(self, path: str) -> NotFound:
        """It names the path that differs in slashes or case only, if there is one."""
        meant = "/" + "/".join(filter(None, path.split("/")))
        for each in (meant, meant.lower()) if len(path) <= _MAX_NAMED_PATH else ():
            node, _ = self._follow(each)
            if node is not None and node.routes and each not in (path, "/"):
                return NotFound(SIMILAR_PATH, path=each)
        return NotFound(NO_SUCH_PATH)


def _wrong_method(method: str, routes: dict[str, Route]) -> MethodNotAllowed:
    allowed = sorted({*routes, "HEAD"} if "GET" in routes else routes)
    return MethodNotAllowed(METHOD_NOT_ALLOWED, method=method, allowed=", ".join(allowed))


async def _handle(route: Route, request: Request, params: tuple[str, ...]) -> Response:
    request.max_body_bytes = route.max_body_bytes
    if route.guard.scheme == "session":
        preferences.activate_language(request)
    await _prove(route, request)
    if request.method not in _READS:  # later its response cannot be refused
        _check_budget(request, 0)
    for identifier in () if route.takes_names else params:
        is_number = route.takes_numbers and identifier.isdigit()
        if not (is_number or ids.is_canonical(identifier)):
            is_list = not identifier and request.path.endswith("/")
            raise NotFound(SIMILAR_PATH, path=request.path[:-1]) if is_list else NotFound
    if b"if-match" in request.headers and route.is_unconditional:
        conditional.refuse_if_match(request)
    if request.method not in _READS and not conditional.OTHERS.isdisjoint(request.headers):
        conditional.refuse_others(request)
    await request.turn.pause()
    if request.query and not route.operation.params and route.is_api_change:
        query.parse(request.query, ())
    if route.operation.takes is None and route.is_without_body:
        body.read_no_body(request)
    response = await route.operation.handle(request, *params)
    if len(response.body) > _LARGE_BYTES:
        await request.turn.pause()
    if request.method in _READS and len(response.body) > UNCOUNTED_BYTES:
        _check_budget(request, len(response.body))
    return response


async def _prove(route: Route, request: Request) -> None:
    """Raises what the guard raises, and TooManyRequests."""
    request.proof = await route.guard.prove(request)
    if request.proof.refusal is not None:
        raise request.proof.refusal
    if request.proof.caller is not None:
        await request.turn.pay_as(request.proof.caller.tenant_id)
        await _wait_for_turn(route, request)


def _check_budget(request: Request, size: int) -> None:
    """Raises ServiceUnavailable when too much is held that clients have not read."""
    budget = request.state.limits.sending
    if budget.held_bytes and not budget.has_room(sending.holder(request), size):
        raise ServiceUnavailable(TOO_MANY_BYTES)


async def _wait_for_turn(route: Route, request: Request) -> None:
    """Raises TooManyRequests when the budget of the tenant's users is used up.

    The guard of signed requests spends that of the keys, together with the key's own.
    """
    state, budget = request.state, request.state.limits.tenant_budgets.of(request.caller)
    if route.guard.scheme != "hmac":
        check_tenant(await state.limits.limiter.take(budget))
    request.reserved_units = await state.limits.tenant_pace.wait(budget.id)


async def _delay_refusal(request: Request) -> None:
    """A client that does not wait for Retry-After must not use a core with refused requests."""
    if len(request.body) <= UNCOUNTED_BYTES and not request.state.lifetime.is_draining:
        await asyncio.sleep(_REFUSAL_DELAY_S * (1 + ids.random_bits(10) / 1024))


def _charge_work(request: Request, response: Response, unindexed_reads: int) -> None:
    """Charge the tenant for what the request has cost beyond its first unit."""
    if request.proof.caller is None:
        return
    state, budget = request.state, request.state.limits.tenant_budgets.of(request.proof.caller)
    transferred = len(request.body) + len(response.body)
    streamed = request.streamed_bytes + (response.file.size if response.file else 0)
    units = request.write_count + transferred // _BYTES_PER_UNIT
    units += streamed // _STREAMED_BYTES_PER_UNIT
    units += unindexed_reads * UNINDEXED_READ_UNITS
    units += request.rendered_steps // _STEPS_PER_UNIT
    key_budget = request.proof.key_budget
    if key_budget is not None and request.write_count > 1:  # each item counts as a request
        state.limits.limiter.charge(key_budget, request.write_count - 1)
    if request.reserved_units:
        state.limits.tenant_pace.settle(budget.id, request.reserved_units, 1 + units)
    if units:
        state.limits.limiter.charge(budget, units)


async def _error_response(request: Request, route: Route | None, error: ApiError) -> Response:
    if error.status == 503:
        log.warning(
            "unavailable", extra={"request_id": request.request_id, "cause": repr(error.__cause__)}
        )
    if _is_page(request, route):
        return await error_pages.error_page(request, error)
    return envelope.problem(error, request.path, request.request_id)


def _is_page(request: Request, route: Route | None) -> bool:
    if route is None or (route.takes_names and route.guard.scheme == "none"):
        return error_pages.prefers_html(request)
    return route.guard.scheme == "session" and route.operation.produces != EVENT_STREAM


async def _send(
    request: Request, route: Route | None, response: Response, receive: Receive, send: Send
) -> None:
    headers = [
        _NOSNIFF,
        (b"x-request-id", request.request_id.encode()),
        *request.proof.response_headers,
        *request.response_headers,
        *response.headers,
        *envelope.caching_headers(response),
        *(_VARY[route.guard.scheme] if route else ()),
    ]
    if route and route.guard.scheme == "session":
        used_ms = (request.turn.loop_s * 1000, request.turn.beside_s * 1000)
        headers.append((b"server-timing", b"loop;dur=%.1f, beside;dur=%.1f" % used_ms))
    if response.parts is not None:
        await sending.send_parts(response, headers, send)
        return
    size = response.file.size if response.file else len(response.body)
    if response.status not in (204, 304):
        headers.append((b"content-type", response.content_type))
        headers.append((b"content-length", b"%d" % size))
    closes = _CLOSE in response.headers
    if request.state.lifetime.is_draining and not closes:
        # A proxy must not send another request on a connection that will be closed.
        headers.append(_CLOSE)
    start = {"type": "http.response.start", "status": response.status, "headers": headers}
    if response.file or size > UNCOUNTED_BYTES:
        await sending.send_counted(request, start, response, send)
    else:
        await send(start)
        await send({"type": "http.response.body", "body": response.body, "more_body": closes})
    if closes:
        await sending.drain(receive)
        await send({"type": "http.response.body", "body": b""})
