"""The parts that a signature covers, side by side, and what is wrong with one that was pasted."""

import re
from urllib.parse import unquote

import msgspec

from sealdesk import signing
from sealdesk.signing import Signed

_URL = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{43}=?")
_EMPTY = signing.body_sha256(b"").decode()
_FEET = ("\n", "\r\n", "")


class Pasted(msgspec.Struct, frozen=True):
    """What somebody says of a request, in text as they have it."""

    method: str
    target: str
    timestamp: str
    body: str
    signature: str
    api_key: str
    host: str


class Part(msgspec.Struct, frozen=True):
    """A part of what is signed. name: timestamp, method, target or body.

    received: as it arrives here, and as it is to be signed. signed: as it was signed or pasted.
    """

    name: str
    received: str
    signed: str

    @property
    def is_same(self) -> bool:
        return self.received == self.signed


class Verdict(msgspec.Struct, frozen=True):
    """What came of a look. mistake: its name, "" when none is known. is_valid: the signature fits.

    is_known: the key's secret could be opened to look.
    """

    mistake: str
    is_valid: bool
    is_known: bool
    parts: list[Part]


def canonical(pasted: Pasted) -> Signed:
    """The parts as they are to be signed: what a server receives."""
    target = _URL.sub("", pasted.target.strip()).partition("#")[0]
    target = target[:-1] if target.endswith("?") else target
    timestamp = pasted.timestamp.strip()
    if re.fullmatch(r"[0-9]{13}", timestamp, re.ASCII):
        timestamp = timestamp[:10]
    return Signed(
        timestamp.encode(),
        pasted.method.strip().upper().encode(),
        (target or "/").encode(),
        pasted.body.encode(),
    )


def look(pasted: Pasted, secret: str | None) -> Verdict:
    """What is wrong with a signature, by the secret that it should be of; None: not there."""
    parts = canonical(pasted)
    text = pasted.signature.strip()
    shape = _shape_mistake(text)
    if secret is None:
        return Verdict(shape, False, False, side_by_side(parts, shape, pasted))
    signature = text.lower().removeprefix("sha256=").encode("utf-8", "replace")
    for body in _bodies(parts.body):
        tried = parts._replace(body=body)
        if signing.is_valid(secret, tried, signature):
            mistake = shape or ("pasted_line_ends" if body != parts.body else "")
            return Verdict(mistake, True, True, side_by_side(tried, mistake, pasted))
    mistake = shape or _mistake(pasted, parts, signature, secret)
    return Verdict(mistake, False, True, side_by_side(parts, mistake, pasted))


def _mistake(pasted: Pasted, parts: Signed, signature: bytes, secret: str) -> str:
    url = _URL.match(pasted.target.strip())
    host = url.group(1) if url else pasted.host.strip()
    for timestamp in {parts.timestamp, pasted.timestamp.strip().encode()}:
        for body in _bodies(parts.body):
            tried = parts._replace(timestamp=timestamp, body=body)
            if timestamp != parts.timestamp and signing.is_valid(secret, tried, signature):
                return "timestamp_milliseconds"
            found = signing.diagnose(
                tried, signature, secret=secret, api_key=pasted.api_key.strip(), host=host.encode()
            )
            if found is not None:
                return found
    return ""


def _shape_mistake(signature: str) -> str:
    if signing.SIGNATURE.fullmatch(signature.encode("utf-8", "replace")):
        return ""
    if re.fullmatch(r"[0-9A-Fa-f]{64}", signature, re.ASCII):
        return "uppercase_hex"
    if signature.startswith("sha256="):
        return "signature_prefixed"
    return "signature_base64" if _BASE64.fullmatch(signature) else "signature_not_hex"


def _bodies(body: bytes) -> list[bytes]:
    """A body as pasted, and as it may have been: fields of forms change the ends of lines."""
    if not body:
        return [body]
    lines = body.rstrip(b"\n")
    spelt = [lines + foot.encode() for foot in _FEET]
    spelt += [each.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for each in spelt]
    return list(dict.fromkeys([body, *spelt]))


def side_by_side(parts: Signed, mistake: str, pasted: Pasted | None) -> list[Part]:
    """Each part as it is to be signed, and as it seems to have been."""
    digest = signing.body_sha256(parts.body).decode()
    return compared(
        parts.timestamp.decode(),
        parts.method.decode(),
        parts.target.decode("utf-8", "replace"),
        digest,
        mistake,
        pasted,
    )


def compared(
    timestamp: str,
    method: str,
    target: str,
    digest: str,
    mistake: str,
    pasted: Pasted | None = None,
) -> list[Part]:
    """The same where only the hash of the body is known."""
    received = {"timestamp": timestamp, "method": method, "target": target, "body": digest}
    signed = dict(received)
    if pasted is not None:
        signed |= {
            "timestamp": pasted.timestamp.strip(),
            "method": pasted.method.strip(),
            "target": pasted.target.strip(),
        }
    host = pasted.host.strip() if pasted is not None and pasted.host.strip() else "…"
    signed |= _signed_instead(mistake, method, target, host)
    return [Part(name, received[name], signed[name]) for name in received]


def _signed_instead(mistake: str, method: str, target: str, host: str) -> dict[str, str]:
    """What a known mistake puts into the place of a part. body: "" stands for the body itself."""
    without = target.removeprefix("/api/v1/external")
    instead: dict[str, dict[str, str]] = {
        "method_lowercase": {"method": method.lower()},
        "query_string_not_signed": {"target": target.partition("?")[0]},
        "trailing_question_mark": {"target": f"{target}?"},
        "full_url_signed": {"target": f"https://{host}{target}"},
        "api_prefix_missing": {"target": f"…{without}"},
        "target_percent_decoded": {"target": unquote(target)},
        "body_omitted": {"body": _EMPTY},
        "body_not_hashed": {"body": ""},
        "body_reserialised_compact": {"body": ""},
        "body_reserialised_default": {"body": ""},
    }
    return instead.get(mistake, {})
