"""Requests as handlers see them, and the responses that they return."""

from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import msgspec

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.deadline import Deadline
from sealdesk.db.engine import Tx, Work
from sealdesk.errors import BadRequest, ContentTooLarge, Unauthorized, UnsupportedMediaType
from sealdesk.errors.requests import (
    BODY_TOO_LARGE,
    CONTENT_ENCODING,
    REPEATED_HEADER,
    UNSUPPORTED_MEDIA_TYPE,
)
from sealdesk.records import idempotency
from sealdesk.records.idempotency import IdempotentRequest, StoredResponse
from sealdesk.state import AppState
from sealdesk.web.client_address import client_address, is_within
from sealdesk.web.form import Form, parse_form
from sealdesk.web.pages.site import Site
from sealdesk.web.proof import NOTHING_PROVEN, Visitor

T = TypeVar("T")
P = ParamSpec("P")
# Limits of bodies (spec decision 3, decision 0028): of requests with long text, and of all others.
MAX_BODY_BYTES = 1024 * 1024
MAX_SHORT_BODY_BYTES = 8 * 1024
_BODY_TYPES = frozenset({b"application/json"})
_PATCH_TYPES = _BODY_TYPES | {b"application/merge-patch+json"}
_STORED_HEADERS = (b"location", b"etag")
_REPLAYED = (b"idempotent-replayed", b"true")
_OF_BODIES = (b"content-length", b"transfer-encoding")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]


class Disconnected(Exception):
    """The client closed the connection before its request was complete."""


class FileBody(Protocol):
    """A body that is read in parts of at most `part_bytes`, `size` bytes in all."""

    size: int
    part_bytes: int

    async def read_part(self) -> bytes:
        """The next part, empty at the end."""

    async def close(self) -> None: ...


class Response(msgspec.Struct):
    """A response. headers: besides those of every response. parts, file: in place of `body`."""

    status: int
    body: bytes = b""
    headers: list[Header] = []
    content_type: bytes = b"application/json"
    parts: AsyncGenerator[bytes, None] | None = None
    file: FileBody | None = None


class Turn(Protocol):
    """Who pays for the work of a request, and how much it was."""

    deadline: Deadline

    @property
    def loop_s(self) -> float:
        """How long the request has held the event loop so far."""

    @property
    def beside_s(self) -> float:
        """Processor time of its work in threads and child processes so far."""

    async def pay_as(self, name: str) -> None:
        """Charge what follows to another payer, once it is the payer's turn."""

    async def pause(self) -> None:
        """Let others go on if the request has held the event loop for long."""


class Request:
    """One request: what was received, and the proof of its guard.

    target: raw path and query as sent, behind the path prefix that a proxy may have stripped.
    has_empty_query: whether it was sent with a `?` that no query follows.
    body: empty until `read_body`. real_now_us: without a test clock.
    peer: the address of the connection; address: the client's behind trusted proxies.
    max_body_bytes: the limit of the route. response_headers: what reading the request adds to the
    response. write_count: how many transactions it has written. reserved_units: see TenantPace.
    streamed_bytes: of a body that was read in parts. rendered_steps: of texts for the API.
    """

    __slots__ = (
        "_form",
        "address",
        "body",
        "has_empty_query",
        "headers",
        "max_body_bytes",
        "method",
        "now_us",
        "path",
        "peer",
        "proof",
        "query",
        "raw_headers",
        "real_now_us",
        "receive",
        "rendered_steps",
        "request_id",
        "reserved_units",
        "response_headers",
        "site",
        "state",
        "streamed_bytes",
        "target",
        "turn",
        "write_count",
    )

    def __init__(self, scope: Scope, receive: Receive, state: AppState, site: Site) -> None:
        self.state = state
        self.site = site
        self.receive = receive
        self.method: str = scope["method"]
        raw_path: bytes = scope["raw_path"]
        self.query: bytes = scope["query_string"]
        self.path = raw_path.decode("latin-1")
        prefixed = state.settings.path_prefix.encode() + raw_path
        self.target = prefixed + b"?" + self.query if self.query else prefixed
        self.has_empty_query: bool = scope["has_empty_query"]
        self.raw_headers: list[Header] = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(self.raw_headers)
        client = scope["client"]
        self.peer: str = client[0] if client else ""
        trusted = state.settings.trusted_proxies
        self.address = (
            client_address(self.peer, self.raw_headers, trusted) if trusted else self.peer
        )
        is_forwarded = b"x-forwarded-for" in self.headers
        if is_forwarded and self.address == self.peer and not is_within(self.peer, trusted):
            state.metrics.untrusted_forwarders.note(self.peer, state.clock.monotonic_s())
        self.now_us = self.real_now_us = state.clock.now_us()
        self.request_id = ids.mint_request_id(self.now_us)
        self.body = b""
        self.max_body_bytes = MAX_SHORT_BODY_BYTES
        self._form: Form | None = None
        self.turn: Turn = scope["turn"]
        self.proof = NOTHING_PROVEN
        self.response_headers: list[Header] = []
        self.write_count = self.reserved_units = self.streamed_bytes = self.rendered_steps = 0

    @property
    def caller(self) -> Caller:
        """The authenticated caller."""
        caller = self.proof.caller
        if caller is None:
            raise RuntimeError("a route without authentication has no caller")
        return caller

    @property
    def visitor(self) -> Visitor | None:
        """The user who is logged in, on pages."""
        return self.proof.visitor

    @property
    def form(self) -> Form:
        """The body as a form; it is parsed once. Raises BadRequest."""
        if self._form is None:
            self._form = parse_form(self.body)
        return self._form

    @property
    def is_https(self) -> bool:
        """Whether the client uses https, as a trusted proxy says."""
        protocol = self.headers.get(b"x-forwarded-proto", b"").strip().lower()
        return protocol == b"https" and is_within(self.peer, self.state.settings.trusted_proxies)

    async def read(self, work: Work[T]) -> T:
        """Read from the caller's tenant. Raises ServiceUnavailable."""
        await self.turn.pause()  # on SQLite reading is a part of the piece
        return await self.state.database.read(work, self.caller.tenant_id)

    async def fetch(
        self,
        find: Callable[Concatenate[Tx, str, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Read with a function that takes the id of the caller's tenant after the transaction."""
        return await self.read(lambda tx: find(tx, self.caller.tenant_id, *args, **kwargs))

    async def read_unindexed(self, work: Work[T]) -> T:
        """Read what no index serves. Raises QueryTooSlow, ServiceUnavailable."""
        return await self.state.database.read_unindexed(work, self.caller.tenant_id)

    async def write(self, work: Work[T]) -> T:
        """Change the caller's tenant in one transaction, which begins with the proof's own part.

        A second call is refused as a replay; `write_more` is for what follows later.
        Raises ServiceUnavailable, and the proof's pending refusal.
        """

        async def guarded(tx: Tx) -> T:
            if self.proof.in_transaction is not None:
                await self.proof.in_transaction(tx)
            return await work(tx)

        return await self._write(guarded)

    async def act(
        self,
        action: Callable[Concatenate[Tx, Caller, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Write with an action, which takes the caller after the transaction."""
        return await self.write(lambda tx: action(tx, self.caller, *args, **kwargs))

    async def write_more(self, work: Work[T]) -> T:
        """Change the caller's tenant once more, without the proof's part, which `write` has run."""
        return await self._write(work)

    async def write_idempotently(self, work: Work[Response]) -> Response:
        """The response of `work`, or the stored one of a request with the same Idempotency-Key.

        The response is stored in the transaction of `work`. Without the header this is a plain
        write.
        """
        once = self.idempotent_request(self.caller.tenant_id, self.caller.actor.id)
        if once is None:
            return await self.write(work)

        async def guarded(tx: Tx) -> Response:
            return await respond_once(tx, once, await find_refusal(self, tx), work, self)

        return await self._write(guarded)

    def idempotent_request(self, tenant_id: str, key_id: str) -> IdempotentRequest | None:
        """A POST with an Idempotency-Key of this API key. Raises BadRequest for an invalid one."""
        key = self.header(b"idempotency-key") if self.method == "POST" else None
        if key is None:
            return None
        return idempotency.read_key(
            tenant_id, key_id, key=key, method=self.method, path=self.path, body=self.body
        )

    async def _write(self, work: Work[T]) -> T:
        if self.proof.pending_refusal is not None:
            raise self.proof.pending_refusal
        self.write_count += 1
        return await self.state.database.write(work, self.caller.tenant_id)

    async def prove_again(self) -> None:
        """Prove a request that waits again, as its key may have ended. Raises ApiError."""
        if self.proof.prove_again is not None:
            self.proof = await self.proof.prove_again(self)

    async def until_gone(self) -> None:
        """Wait until the client has closed the connection; the body must have been read."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    def header(self, name: bytes) -> str | None:
        """A header's text. Raises BadRequest when it was sent more than once."""
        value: bytes | None = self.headers.get(name)
        if value is None:
            return None
        if self.is_repeated(name):
            raise BadRequest(REPEATED_HEADER, header=name.decode())
        return value.decode("latin-1").strip(" \t")

    def is_repeated(self, name: bytes) -> bool:
        if len(self.headers) == len(self.raw_headers):
            return False
        return sum(1 for header, _ in self.raw_headers if header == name) > 1

    def cookie(self, name: str) -> str | None:
        """The value of a cookie; None without one, or with two of this name."""
        lines = [value for header, value in self.raw_headers if header == b"cookie"]
        parts = b"; ".join(lines).decode("latin-1").split(";")
        pairs = [part.strip().partition("=") for part in parts]
        values = [value for each, _, value in pairs if each == name and value]
        return values[0] if len(values) == 1 else None

    async def read_body(self) -> bool:
        """Read the body into `body`; True when it arrived later than the headers.

        Raises ContentTooLarge, UnsupportedMediaType, Disconnected.
        """
        self.declared_size()
        if self.headers.keys().isdisjoint(_OF_BODIES):
            return False
        parts: list[bytes] = []
        size, has_waited, more_body = 0, False, True
        while more_body:
            message = await self.receive()
            if message["type"] != "http.request":
                raise Disconnected
            parts.append(message["body"])
            size += len(parts[-1])
            self.check_size(size + message.get("announced_bytes", 0))
            # Our server says so; with another one the key is looked up again after every body.
            has_waited = has_waited or message.get("has_waited", True)
            more_body = message.get("more_body", False)
        self.body = b"".join(parts)
        return has_waited

    def declared_size(self) -> int | None:
        """The announced size of the body, None when it comes in chunks.

        Raises ContentTooLarge, UnsupportedMediaType: nothing of such a body is read.
        """
        encoding = self.headers.get(b"content-encoding")
        if encoding is not None and encoding.strip().lower() != b"identity":
            raise UnsupportedMediaType(CONTENT_ENCODING)
        declared = self.headers.get(b"content-length")
        if declared is None:
            return None if b"transfer-encoding" in self.headers else 0
        self.check_size(int(declared))
        return int(declared)

    def check_size(self, size: int) -> None:
        """Raises ContentTooLarge when so many bytes of the body are more than its route takes."""
        if size > self.max_body_bytes:
            raise ContentTooLarge(BODY_TOO_LARGE, max_bytes=self.max_body_bytes)

    def check_content_type(self) -> None:
        """Raises UnsupportedMediaType when there is a body that is not declared as JSON."""
        if not self.body:
            return
        declared = [value for name, value in self.raw_headers if name == b"content-type"]
        accepted = _PATCH_TYPES if self.method == "PATCH" else _BODY_TYPES
        # Sent twice, a proxy may have checked either.
        media_types = {each.partition(b";")[0].strip().lower() for each in declared}
        if not media_types or not media_types <= accepted:
            raise UnsupportedMediaType(UNSUPPORTED_MEDIA_TYPE)


async def find_refusal(request: Request, tx: Tx) -> Unauthorized | None:
    """Run the proof's own part of a transaction; what refuses all but a stored response.

    Also before a stored response: the header is not signed, so an unused signature of a retry would
    allow the same request without it.
    """
    try:
        if request.proof.in_transaction is not None:
            await request.proof.in_transaction(tx)
    except Unauthorized as error:
        return error
    return None


async def respond_once(
    tx: Tx,
    once: IdempotentRequest,
    refusal: Unauthorized | None,
    work: Work[Response],
    request: Request,
) -> Response:
    """The stored response, else that of `work`, which is stored. Raises the refusal, Conflict."""
    await idempotency.lock(tx, once)
    stored = await idempotency.find(tx, once, request.real_now_us)
    if stored is not None:
        headers = [(name.encode(), value.encode()) for name, value in stored.headers]
        return Response(stored.status, stored.body, [*headers, _REPLAYED])
    if refusal is not None:
        raise refusal
    response = await work(tx)
    kept = [(n.decode(), v.decode()) for n, v in response.headers if n in _STORED_HEADERS]
    record = StoredResponse(response.status, response.body, kept)
    await idempotency.store(tx, once, record, request.real_now_us)
    return response
