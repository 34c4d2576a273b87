"""Decides from the response to a signed request how a proxy altered the request."""

import re
import time
from typing import Any, Literal, NamedTuple

from sealdesk.cli.doctor.probes import Probe
from sealdesk.cli.doctor.raw_http import Response, Site
from sealdesk.crypto.signing import Signed, body_sha256, sign

# The part of the request that was altered, or the reason why the response does not show it.
# `remedies.py` has a remedy for each.
Alteration = Literal[
    "path",
    "query",
    "method",
    "body",
    "headers",
    "redirect",
    "refused",
    "too_large",
    "unreachable",
    "certificate",
    "clock",
    "key",
    "answer",
    "cache",
]

# Error codes that the service uses only after it has accepted the signature (spec decision 3).
_AFTER_SIGNATURE = {
    "insufficient_permissions",
    "ip_not_allowed",
    "rate_limit_exceeded",
    "signature_replayed",
    "unsupported_media_type",
}
_HEADERS = {"missing_credentials", "malformed_credentials", "timestamp_not_seconds"}
_KEY = {"invalid_api_key", "api_key_revoked", "api_key_expired"}
_TOO_LARGE = {413, 414, 431}
_MAX_SHOWN_CHARS = 76
_SYMBOL = re.compile(r"%[0-9A-Fa-f]{2}|\\x[0-9a-f]{2}|.")


class AlteredRequest(NamedTuple):
    """A request that did not arrive unchanged. lines: the text of the finding."""

    alteration: Alteration
    lines: tuple[str, ...]
    is_refusal: bool = False


def sign_probe(site: Site, probe: Probe, api_key: str, secret: str) -> tuple[Signed, bytes]:
    """Return the signed parts of a probe and the bytes of its request."""
    now = str(int(time.time())).encode()
    parts = Signed(now, probe.method.encode(), site.path.encode() + probe.target, probe.body)
    credentials = _signature_headers(probe, api_key, sign(secret, parts), now)
    head = _head(site, probe.method, probe.target, [*credentials, *_framing_headers(probe)])
    return parts, head + _framed_body(probe)


def unsigned_request(site: Site, method: str, target: bytes) -> bytes:
    """Return the bytes of a request without a signature."""
    return _head(site, method, target, [])


def _head(site: Site, method: str, target: bytes, headers: list[bytes]) -> bytes:
    lines = [
        b"%b %b%b HTTP/1.1" % (method.encode(), site.path.encode(), target),
        b"Host: " + site.authority.encode(),
        *headers,
        b"User-Agent: sealdesk-doctor",
        b"Connection: close",
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _signature_headers(probe: Probe, api_key: str, signature: str, now: bytes) -> list[bytes]:
    headers = {b"x-api-key": api_key.encode(), b"x-api-signature": signature.encode()}
    headers[b"x-api-timestamp"] = now
    match probe.header_style:
        case "padded":
            return [b"%b: \t %b \t " % line for line in headers.items()]
        case "capitals":
            return [b"%b:%b" % (name.upper(), value) for name, value in headers.items()]
        case "twice":
            return [b"%b: %b" % line for line in (*headers.items(), (b"x-api-timestamp", now))]
    return [b"%b: %b" % line for line in headers.items()]


def _framing_headers(probe: Probe) -> list[bytes]:
    if probe.is_chunked:
        return [b"Content-Type: application/json", b"Transfer-Encoding: chunked"]
    if probe.body:
        return [b"Content-Type: application/json", b"Content-Length: %d" % len(probe.body)]
    return [] if probe.method in ("GET", "HEAD") else [b"Content-Length: 0"]


def _framed_body(probe: Probe) -> bytes:
    if not probe.is_chunked:
        return probe.body
    chunks = (probe.body[at : at + 7] for at in range(0, len(probe.body), 7))
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def diagnose(site: Site, sent: Signed, response: Response) -> AlteredRequest | None:
    """Return how the request was altered, or None if the service accepted its signature."""
    code = response.problem.get("code")
    if is_signature_accepted(response) or (sent.method == b"HEAD" and response.status == 200):
        return None
    if code == "invalid_signature" and isinstance(response.problem.get("received"), dict):
        return _compare_received(sent, response.problem["received"])
    if response.status == 200:
        return AlteredRequest("answer", ("the response is 200, but not from Sealdesk",))
    if sent.method == b"HEAD" and response.status == 401:
        return AlteredRequest(
            "method", ("a signed HEAD did not arrive as HEAD; a response to HEAD has no details",)
        )
    if 300 <= response.status < 400:
        return AlteredRequest(
            "redirect", (_summary_of(response), f"to       {response.headers.get('location')}")
        )
    if code == "not_found":
        return _diagnose_path(site, sent, str(response.problem.get("instance")))
    if code == "timestamp_out_of_range":
        return AlteredRequest("clock", (_summary_of(response),))
    if code in _KEY:
        return AlteredRequest("key", (_summary_of(response),))
    if code in _HEADERS:
        return AlteredRequest("headers", (_summary_of(response),))
    return _diagnose_refusal(response)


def is_signature_accepted(response: Response) -> bool:
    """Whether the response shows that the service accepted the signature."""
    if "ratelimit" in response.headers or response.problem.get("code") in _AFTER_SIGNATURE:
        return True
    return response.status == 200 and "data" in response.problem


def _compare_received(sent: Signed, received: dict[str, Any]) -> AlteredRequest:
    target = printable(sent.target)
    arrived = printable(str(received.get("request_target")).encode("latin-1", "replace"))
    if target != arrived:
        is_path = target.partition("?")[0] != arrived.partition("?")[0]
        return AlteredRequest("path" if is_path else "query", _side_by_side(target, arrived))
    body = f"{body_sha256(sent.body).decode()} of {len(sent.body)} bytes"
    parts_compared: tuple[tuple[Alteration, str, str], ...] = (
        ("method", sent.method.decode(), str(received.get("method"))),
        ("headers", sent.timestamp.decode(), str(received.get("timestamp"))),
        ("body", body, f"{received.get('body_sha256')} of {received.get('body_bytes')} bytes"),
    )
    for alteration, before, after in parts_compared:
        if before != after:
            return AlteredRequest(alteration, _side_by_side(before, after))
    return AlteredRequest(
        "key", ("all of it arrived, but SEALDESK_API_SECRET is not this key's secret",)
    )


def _diagnose_path(site: Site, sent: Signed, instance: str) -> AlteredRequest:
    """Diagnose a 404. instance: the path that the service received, without a stripped prefix."""
    arrived = printable(instance.encode("latin-1", "replace"))
    target = printable(sent.target.partition(b"?")[0])
    if arrived in (target, target.removeprefix(site.path)):
        return AlteredRequest(
            "answer", (f"{target} arrived, but the response lost its RateLimit header",)
        )
    return AlteredRequest("path", _side_by_side(target, arrived))


def _diagnose_refusal(response: Response) -> AlteredRequest:
    alteration: Alteration = "refused"
    if response.status in _TOO_LARGE:
        alteration = "too_large"
    elif response.status >= 500:
        alteration = "unreachable"
    return AlteredRequest(alteration, (_summary_of(response),), is_refusal=True)


def _summary_of(response: Response) -> str:
    """Summarise the response: the status, and the problem's detail or the Server header."""
    reason = response.problem.get("detail") or response.headers.get("server", "")
    return f"the response is {response.status}{f' ({reason})' if reason else ''}"


def printable(target: bytes) -> str:
    """Return a request target as text; bytes that are not printable ASCII become \\xNN."""
    return "".join(chr(byte) if 0x21 <= byte < 0x7F else f"\\x{byte:02x}" for byte in target)


def _side_by_side(sent: str, arrived: str) -> tuple[str, ...]:
    """Return both texts with the difference underlined, one below the other."""
    sent_symbols, arrived_symbols = _SYMBOL.findall(sent), _SYMBOL.findall(arrived)
    head = _common_prefix_length(sent_symbols, arrived_symbols)
    tail = _common_prefix_length(sent_symbols[head:][::-1], arrived_symbols[head:][::-1])
    lines = []
    for name, symbols in (("sent", sent_symbols), ("arrived", arrived_symbols)):
        end = len(symbols) - tail
        before, mid, after = (
            "".join(part) for part in (symbols[:head], symbols[head:end], symbols[end:])
        )
        if len(before) > _MAX_SHOWN_CHARS:
            before = "…" + before[-_MAX_SHOWN_CHARS:]
        if len(mid) > _MAX_SHOWN_CHARS:
            mid = mid[:_MAX_SHOWN_CHARS] + "…"
        if len(after) > _MAX_SHOWN_CHARS:
            after = after[:_MAX_SHOWN_CHARS] + "…"
        lines.append(f"{name:<8} {before}{mid}{after}")
        lines.append(" " * (9 + len(before)) + "^" * max(1, len(mid)))
    return tuple(lines)


def _common_prefix_length(sent_symbols: list[str], arrived_symbols: list[str]) -> int:
    """Return the number of leading symbols that are equal."""
    pairs = enumerate(zip(sent_symbols, arrived_symbols, strict=False))
    return next(
        (at for at, (a, b) in pairs if a != b), min(len(sent_symbols), len(arrived_symbols))
    )
