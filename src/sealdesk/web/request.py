"""One request as handlers see it, and the answer that they give."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeVar

import msgspec

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx, Work
from sealdesk.errors import ApiError, BadRequest, ContentTooLarge, UnsupportedMediaType
from sealdesk.rate_limits.limiter import RateState
from sealdesk.settings import Network
from sealdesk.state import AppState
from sealdesk.telemetry.key_usage import KeyUse
from sealdesk.web.pages.site import Site

T = TypeVar("T")
MAX_BODY_BYTES = 1024 * 1024  # decisions 3

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]


class Disconnected(Exception):
    """The client went away before its request was complete."""


class Response(msgspec.Struct):
    """What goes back: status, body, and headers beside the ones that every answer has."""

    status: int
    body: bytes = b""
    headers: list[Header] = []
    content_type: bytes = b"application/json"


class Visitor(msgspec.Struct, frozen=True):
    """Who looks at a page, as far as the page shows it.

    form_token: what the forms of this log-in carry.
    is_fresh: whether the log-in is young; else some forms ask for the password once more.
    wrong: what is wrong with the one that was sent, or not sent.
    """

    name: str
    email: str
    is_administrator: bool
    form_token: str
    is_fresh: bool
    wrong: str = ""


class Request:
    """One request: what was received, and what its guard has proven.

    target: raw path and query as sent, behind the path prefix that a proxy may have stripped.
    params: the path's ids. caller: set by the guard. body: set once read.
    body_waited: whether the body arrived later than the headers.
    peer: the address of the connection; address: the client's behind trusted proxies.
    proof: how the guard proves a call anew that takes long; it raises what it then refuses with.
    rate, skew_s: what the guard of signed requests has seen of the key's budget and clock.
    answer_headers: what the guard adds to whatever the answer will be.
    visitor: who looks at a page, once proven.
    withheld: why nothing may be changed, though it is proven who calls.
    key_use: the key that is counted with the answer.
    within_write: what must happen first in the transaction of the effect.
    """

    __slots__ = (
        "address",
        "body",
        "body_waited",
        "caller",
        "headers",
        "in_transaction",
        "key_use",
        "method",
        "now_us",
        "params",
        "path",
        "peer",
        "pending_refusal",
        "proof",
        "query",
        "rate",
        "raw_headers",
        "receive",
        "request_id",
        "response_headers",
        "site",
        "skew_s",
        "state",
        "target",
        "visitor",
    )

    caller: Caller
    proof: Callable[["Request"], Awaitable[None]]

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
        self.raw_headers: list[Header] = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(self.raw_headers)
        client = scope["client"]
        self.peer: str = client[0] if client else ""
        trusted = state.settings.trusted_proxies
        self.address = client_address(self.peer, self.raw_headers, trusted)
        self.now_us = state.clock.now_us()
        self.request_id = new_request_id()
        self.params: tuple[str, ...] = ()
        self.body = b""
        self.body_waited = False
        self.rate: RateState | None = None
        self.skew_s = 0
        self.response_headers: list[Header] = []
        self.in_transaction: list[Callable[[Tx], Awaitable[None]]] = []
        self.visitor: Visitor | None = None
        self.pending_refusal: ApiError | None = None
        self.key_use: KeyUse | None = None

    @property
    def is_https(self) -> bool:
        """Whether the client speaks https, to a proxy that is trusted to say so."""
        told = self.headers.get(b"x-forwarded-proto", b"").strip().lower()
        return told == b"https" and is_within(self.peer, self.state.settings.trusted_proxies)

    async def read(self, work: Work[T]) -> T:
        """Read what is the proven caller's tenant's. Raises Unavailable."""
        return await self.state.database.read(work, self.caller.tenant_id)

    async def read_unindexed(self, work: Work[T]) -> T:
        """The same for what no index serves."""
        return await self.state.database.read_unindexed(work, self.caller.tenant_id)

    async def write(self, work: Work[T]) -> T:
        """Change what is the proven caller's tenant's, in one transaction.

        Raises Unavailable, and what the guard has withheld it with.
        """
        if self.pending_refusal is not None:
            raise self.pending_refusal
        return await self.state.database.write(work, self.caller.tenant_id)

    async def until_gone(self) -> None:
        """Returns when the client has gone away; for a request whose body is read."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    def header(self, name: bytes) -> str | None:
        """A header's text. Raises Malformed when it was sent more than once."""
        value: bytes | None = self.headers.get(name)
        if value is None:
            return None
        if self.is_repeated(name):
            raise BadRequest(
                "invalid_header", f"The header {name.decode()} was sent more than once."
            )
        return value.decode("latin-1").strip(" \t")

    def is_repeated(self, name: bytes) -> bool:
        if len(self.headers) == len(self.raw_headers):
            return False
        return sum(1 for header, _ in self.raw_headers if header == name) > 1

    def cookie(self, name: str) -> str | None:
        """What a cookie holds; None without one, or with two of this name."""
        lines = [value for header, value in self.raw_headers if header == b"cookie"]
        parts = b"; ".join(lines).decode("latin-1").split(";")
        pairs = [part.strip().partition("=") for part in parts]
        found = [value for each, _, value in pairs if each == name and value]
        return found[0] if len(found) == 1 else None

    async def read_body(self) -> None:
        """Read the body into `body`. Raises TooLarge, WrongType, Disconnected."""
        encoding = self.headers.get(b"content-encoding")
        if encoding is not None and encoding.strip().lower() != b"identity":
            raise UnsupportedMediaType(
                "unsupported_media_type",
                "The body must be sent without a Content-Encoding: the signature covers the bytes"
                " as they travel.",
            )
        declared = self.headers.get(b"content-length")
        if declared is not None and int(declared) > MAX_BODY_BYTES:
            raise _too_large()
        if declared is None and b"transfer-encoding" not in self.headers:
            return
        # If reading waits even once, the loop runs this first: the note costs less than a re-read.
        noted: list[bool] = []
        note = asyncio.get_running_loop().call_soon(noted.append, True)
        self.body = await self._received()
        note.cancel()
        self.body_waited = bool(noted)

    async def _received(self) -> bytes:
        message = await self.receive()
        body: bytes = message.get("body", b"")
        if message["type"] == "http.request" and not message.get("more_body"):
            if len(body) > MAX_BODY_BYTES:
                raise _too_large()
            return body
        parts = []
        size = 0
        while message["type"] == "http.request":
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > MAX_BODY_BYTES:
                raise _too_large()
            if not message.get("more_body"):
                return b"".join(parts)
            message = await self.receive()
        raise Disconnected

    def check_content_type(self) -> None:
        """Raises WrongType when there is a body that is not declared as JSON."""
        if not self.body:
            return
        declared = self.headers.get(b"content-type", b"")
        media_type = declared.partition(b";")[0].strip().lower()
        is_patch = self.method == "PATCH" and media_type == b"application/merge-patch+json"
        if media_type != b"application/json" and not is_patch:
            raise UnsupportedMediaType(
                "unsupported_media_type",
                "Send the body with Content-Type: application/json.",
            )


def new_request_id() -> str:
    """24 hex characters; no secret (see ids.mint)."""
    return f"{ids.random_bits(96):024x}"


def client_address(peer: str, headers: list[Header], trusted: tuple[Network, ...]) -> str:
    """The client's IP address: the peer's, or the right-most one that no trusted proxy owns."""
    if not is_within(peer, trusted):
        return peer
    lines = [value for name, value in headers if name == b"x-forwarded-for"]
    for hop in reversed(b",".join(lines).decode("latin-1").split(",")):
        try:
            address = str(ipaddress.ip_address(hop.strip()))
        except ValueError:
            return peer
        peer = address
        if not is_within(peer, trusted):
            return peer
    return peer


def is_within(address: str, networks: tuple[Network, ...]) -> bool:
    """Whether an IP address belongs to one of the networks; an IPv4 one in IPv6 form counts."""
    if not networks:
        return False
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None)
    return any((mapped or ip) in network for network in networks)


def _too_large() -> ContentTooLarge:
    return ContentTooLarge(
        "body_too_large",
        f"The body is over {MAX_BODY_BYTES} bytes.",
        headers=(("connection", "close"),),
        max_bytes=MAX_BODY_BYTES,
    )
