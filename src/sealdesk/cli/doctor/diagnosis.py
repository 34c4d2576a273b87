"""What became of a signed request on its way, as the answer to it tells."""

import re
import time
from typing import Any, Literal, NamedTuple

from sealdesk.cli.doctor.probes import Probe
from sealdesk.cli.doctor.raw_http import Answer, Site
from sealdesk.crypto.signing import Signed, body_sha256, sign

# What was changed, or why that cannot be told; `mends.py` knows what to do about each.
Alteration = Literal[
    "path", "query", "method", "body", "headers", "redirect", "refused", "too_large", "unreachable",
    "clock", "key", "answer",
]  # fmt: skip

# Codes of the service for what only comes up behind a signature that held (decisions 3).
_AFTER_SIGNATURE = {
    "insufficient_permissions", "ip_not_allowed", "rate_limit_exceeded", "signature_replayed",
    "unsupported_media_type",
}  # fmt: skip
_HEADERS = {"missing_credentials", "malformed_credentials", "timestamp_not_seconds"}
_KEY = {"invalid_api_key", "api_key_revoked", "api_key_expired"}
_TOO_LARGE = {413, 414, 431}
_WIDTH = 76
_SYMBOL = re.compile(r"%[0-9A-Fa-f]{2}|\\x[0-9a-f]{2}|.")


class Harmed(NamedTuple):
    """A request that did not arrive as it was sent. lines: what was sent and what arrived."""

    harm: Alteration
    lines: tuple[str, ...]
    is_refusal: bool = False


def signed(site: Site, probe: Probe, api_key: str, secret: str) -> tuple[Signed, bytes]:
    """What is signed, and the bytes of the request."""
    now = str(int(time.time())).encode()
    parts = Signed(now, probe.method.encode(), site.path.encode() + probe.target, probe.body)
    credentials = _credentials(probe, api_key, sign(secret, parts), now)
    head = _head(site, probe.method, probe.target, [*credentials, *_framing(probe)])
    return parts, head + _framed(probe)


def unsigned(site: Site, method: str, target: bytes) -> bytes:
    """The bytes of a request that proves nothing."""
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


def _credentials(probe: Probe, api_key: str, signature: str, now: bytes) -> list[bytes]:
    headers = {b"x-api-key": api_key.encode(), b"x-api-signature": signature.encode()}
    headers[b"x-api-timestamp"] = now
    match probe.writing:
        case "padded":
            return [b"%b: \t %b \t " % line for line in headers.items()]
        case "capitals":
            return [b"%b:%b" % (name.upper(), value) for name, value in headers.items()]
        case "twice":
            return [b"%b: %b" % line for line in (*headers.items(), (b"x-api-timestamp", now))]
    return [b"%b: %b" % line for line in headers.items()]


def _framing(probe: Probe) -> list[bytes]:
    if probe.is_chunked:
        return [b"Content-Type: application/json", b"Transfer-Encoding: chunked"]
    if probe.body:
        return [b"Content-Type: application/json", b"Content-Length: %d" % len(probe.body)]
    return [] if probe.method in ("GET", "HEAD") else [b"Content-Length: 0"]


def _framed(probe: Probe) -> bytes:
    if not probe.is_chunked:
        return probe.body
    chunks = (probe.body[at : at + 7] for at in range(0, len(probe.body), 7))
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def judge(site: Site, sent: Signed, answer: Answer) -> Harmed | None:
    """None when the request arrived as it was sent, which a signature that held proves."""
    code = answer.problem.get("code")
    if is_proven(answer) or (sent.method == b"HEAD" and answer.status == 200):
        return None
    if code == "invalid_signature" and isinstance(answer.problem.get("received"), dict):
        return _compared(sent, answer.problem["received"])
    if answer.status == 200:
        return Harmed("answer", ("answered 200, but not by Sealdesk",))
    if sent.method == b"HEAD" and answer.status == 401:
        return Harmed("method", ("a signed HEAD did not arrive as one; its answer has no body",))
    if 300 <= answer.status < 400:
        return Harmed("redirect", (_says(answer), f"to       {answer.headers.get('location')}"))
    if code == "not_found":
        return _elsewhere(site, sent, str(answer.problem.get("instance")))
    if code == "timestamp_out_of_range":
        return Harmed("clock", (_says(answer),))
    if code in _KEY:
        return Harmed("key", (_says(answer),))
    if code in _HEADERS:
        return Harmed("headers", (_says(answer),))
    return _refused(answer)


def is_proven(answer: Answer) -> bool:
    """Whether the service has found the signature to hold."""
    if "ratelimit" in answer.headers or answer.problem.get("code") in _AFTER_SIGNATURE:
        return True
    return answer.status == 200 and "data" in answer.problem


def _compared(sent: Signed, received: dict[str, Any]) -> Harmed:
    target = shown(sent.target)
    arrived = shown(str(received.get("request_target")).encode("latin-1", "replace"))
    if target != arrived:
        is_path = target.partition("?")[0] != arrived.partition("?")[0]
        return Harmed("path" if is_path else "query", _beside(target, arrived))
    body = f"{body_sha256(sent.body).decode()} of {len(sent.body)} bytes"
    facts: tuple[tuple[Alteration, str, str], ...] = (
        ("method", sent.method.decode(), str(received.get("method"))),
        ("headers", sent.timestamp.decode(), str(received.get("timestamp"))),
        ("body", body, f"{received.get('body_sha256')} of {received.get('body_bytes')} bytes"),
    )
    for harm, before, after in facts:
        if before != after:
            return Harmed(harm, _beside(before, after))
    return Harmed("key", ("all of it arrived, but SEALDESK_API_SECRET is not this key's secret",))


def _elsewhere(site: Site, sent: Signed, instance: str) -> Harmed:
    """A path that leads nowhere. instance: the path that arrived, without a stripped prefix."""
    arrived = shown(instance.encode("latin-1", "replace"))
    target = shown(sent.target.partition(b"?")[0])
    if arrived in (target, target.removeprefix(site.path)):
        return Harmed("answer", (f"{target} arrived, but without the answer's RateLimit header",))
    return Harmed("path", _beside(target, arrived))


def _refused(answer: Answer) -> Harmed:
    harm: Alteration = "refused"
    if answer.status in _TOO_LARGE:
        harm = "too_large"
    elif answer.status >= 500:
        harm = "unreachable"
    return Harmed(harm, (_says(answer),), is_refusal=True)


def _says(answer: Answer) -> str:
    """The answer in short, with the one who may have given it."""
    words = answer.problem.get("detail") or answer.headers.get("server", "")
    return f"answered {answer.status}{f' ({words})' if words else ''}"


def shown(target: bytes) -> str:
    """A target for reading: as it is where it is ASCII, other bytes as \\xNN."""
    return "".join(chr(byte) if 0x21 <= byte < 0x7F else f"\\x{byte:02x}" for byte in target)


def _beside(sent: str, arrived: str) -> tuple[str, ...]:
    """Both, one below the other, with what differs underlined."""
    one, other = _SYMBOL.findall(sent), _SYMBOL.findall(arrived)
    head = _common(one, other)
    tail = _common(one[head:][::-1], other[head:][::-1])
    lines = []
    for name, symbols in (("sent", one), ("arrived", other)):
        end = len(symbols) - tail
        before, mid, after = (
            "".join(part) for part in (symbols[:head], symbols[head:end], symbols[end:])
        )
        if len(before) > _WIDTH:
            before = "…" + before[-_WIDTH:]
        if len(mid) > _WIDTH:
            mid = mid[:_WIDTH] + "…"
        if len(after) > _WIDTH:
            after = after[:_WIDTH] + "…"
        lines.append(f"{name:<8} {before}{mid}{after}")
        lines.append(" " * (9 + len(before)) + "^" * max(1, len(mid)))
    return tuple(lines)


def _common(one: list[str], other: list[str]) -> int:
    """How many symbols at the head are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
