"""The parts that a signature covers, side by side, and what is wrong with one that was pasted."""

from urllib.parse import unquote

import msgspec

from sealdesk.api_keys.debugger import parsing
from sealdesk.api_keys.debugger.parsing import Pasted
from sealdesk.crypto import signing
from sealdesk.crypto.signing import Signed

SECRET_SENT = "secret_as_signature"  # noqa: S105 - the name of a mistake
_EMPTY = signing.body_sha256(b"").decode()


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
    """What came of a look. mistakes: their names, none when none is known.

    is_valid: the signature fits, but for how it and the timestamp are written.
    is_known: the key's secret could be opened to look. is_open: even with the mistakes mended it
    does not fit, and nobody knows why.
    """

    mistakes: list[str]
    is_valid: bool
    is_known: bool
    parts: list[Part]
    is_open: bool = False


def look(pasted: Pasted, secret: str | None, prefix: str = "") -> Verdict:
    """What is wrong with a signature, by the secret that it should be of; None: not there.

    prefix: what a proxy strips from paths before they arrive here.
    """
    parts = parsing.canonical(pasted, prefix)
    written = parsing.timestamp_of(pasted.timestamp), parsing.signature_of(pasted.signature)
    shapes = [each.mistake for each in written if each.mistake]
    if secret is None:
        return Verdict(shapes, False, False, side_by_side(parts, "", pasted))
    signature = written[1].text.encode("utf-8", "replace")
    for body in parsing.bodies(pasted.body):
        tried = parts._replace(body=body)
        if signing.is_valid(secret, tried, signature):
            named = shapes if body == parts.body else [*shapes, "pasted_line_ends"]
            return Verdict(named, True, True, side_by_side(tried, "", pasted))
    mistake = _mistake(pasted, parts, signature, secret)
    named = [*shapes, mistake] if mistake and mistake not in shapes else shapes
    is_open = not mistake and "signature_not_hex" not in shapes
    return Verdict(named, False, True, side_by_side(parts, mistake, pasted), is_open)


def _mistake(pasted: Pasted, parts: Signed, signature: bytes, secret: str) -> str:
    host, api_key = parsing.host_of(pasted).encode(), parsing.bare(pasted.api_key)
    as_written = parsing.bare(pasted.timestamp).encode()
    for timestamp in dict.fromkeys((parts.timestamp, as_written)):
        for body in parsing.bodies(pasted.body):
            tried = parts._replace(timestamp=timestamp, body=body)
            # All but this one is told by how the timestamp is written.
            if timestamp != parts.timestamp and signing.is_valid(secret, tried, signature):
                return parsing.timestamp_of(pasted.timestamp).mistake
            found = signing.diagnose(tried, signature, secret=secret, api_key=api_key, host=host)
            if found is not None:
                return found
    return ""


def side_by_side(parts: Signed, mistake: str, pasted: Pasted) -> list[Part]:
    """Each part as it is to be signed, and as it seems to have been."""
    received = {
        "timestamp": parts.timestamp.decode(),
        "method": parts.method.decode(),
        "target": parts.target.decode(),
        "body": signing.body_sha256(parts.body).decode(),
    }
    signed = {
        "timestamp": parsing.bare(pasted.timestamp),
        "method": pasted.method.strip(),
        "target": parsing.bare(pasted.target),
    }
    host = parsing.host_of(pasted)
    instead = _signed_instead(mistake, received["method"], received["target"], host)
    return _paired(received, signed | instead)


def compared(timestamp: str, method: str, target: str, digest: str, mistake: str) -> list[Part]:
    """The same where only the hash of the body is known."""
    received = {"timestamp": timestamp, "method": method, "target": target, "body": digest}
    return _paired(received, _signed_instead(mistake, method, target, ""))


def _paired(received: dict[str, str], signed: dict[str, str]) -> list[Part]:
    return [Part(name, text, signed.get(name, text)) for name, text in received.items()]


def _signed_instead(mistake: str, method: str, target: str, host: str) -> dict[str, str]:
    """What a known mistake puts into the place of a part. body: "" stands for the body itself."""
    without = target.removeprefix("/api/v1/external")
    instead: dict[str, dict[str, str]] = {
        "method_lowercase": {"method": method.lower()},
        "query_string_not_signed": {"target": target.partition("?")[0]},
        "trailing_question_mark": {"target": f"{target}?"},
        "full_url_signed": {"target": f"https://{host or '…'}{target}"},
        "api_prefix_missing": {"target": f"…{without}"},
        "target_percent_decoded": {"target": unquote(target)},
        "body_omitted": {"body": _EMPTY},
        "body_not_hashed": {"body": ""},
        "body_not_sent": {"body": ""},
        "body_reserialised_compact": {"body": ""},
        "body_reserialised_default": {"body": ""},
    }
    return instead.get(mistake, {})
