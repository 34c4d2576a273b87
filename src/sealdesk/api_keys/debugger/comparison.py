"""Compares a pasted request with what its signature should cover, and names the mistake."""

from urllib.parse import unquote

import msgspec

from sealdesk.api_keys.debugger import parsing
from sealdesk.api_keys.debugger.parsing import PastedRequest
from sealdesk.crypto import signing
from sealdesk.crypto.diagnosis import diagnose as diagnose_signature
from sealdesk.crypto.mistakes import OF_THE_BODY
from sealdesk.crypto.signing import Signed

SECRET_AS_SIGNATURE = "secret_as_signature"  # noqa: S105 - the name of a mistake
_OF_THE_BODY = {each.name for each in OF_THE_BODY}
_EMPTY = signing.body_sha256(b"").decode()


class Part(msgspec.Struct, frozen=True):
    """A part of what is signed. name: timestamp, method, target or body.

    received: the value to sign. signed: the value that was signed or pasted.
    """

    name: str
    received: str
    signed: str

    @property
    def is_same(self) -> bool:
        return self.received == self.signed


class Verdict(msgspec.Struct, frozen=True):
    """The result. mistakes: the names of the mistakes that were found.

    is_valid: the signature is right, except for the form of it and of the timestamp.
    is_known: the key still has its secret, so the signature could be checked.
    is_unexplained: the signature is wrong for a reason that is not known.
    """

    mistakes: list[str]
    is_valid: bool
    is_known: bool
    parts: list[Part]
    is_unexplained: bool = False


def diagnose(pasted: PastedRequest, secret: str | None, prefix: str = "") -> Verdict:
    """Find what is wrong with a signature. secret: the key's, None for a revoked key.

    prefix: stripped from paths by a proxy.
    """
    parts = parsing.signed_parts(pasted, prefix)
    parsed = parsing.parse_timestamp(pasted.timestamp), parsing.parse_signature(pasted.signature)
    form_mistakes = [each.mistake for each in parsed if each.mistake]
    if secret is None:
        return Verdict(form_mistakes, False, False, compare_parts(parts, "", pasted))
    signature = parsed[1].text.encode("utf-8", "replace")
    for body in parsing.body_variants(pasted.body):
        candidate = parts._replace(body=body)
        if signing.is_valid(secret, candidate, signature):
            mistakes = form_mistakes if body == parts.body else [*form_mistakes, "pasted_line_ends"]
            return Verdict(mistakes, True, True, compare_parts(candidate, "", pasted))
    mistake = _find_mistake(pasted, parts, signature, secret)
    mistakes = (
        [*form_mistakes, mistake] if mistake and mistake not in form_mistakes else form_mistakes
    )
    is_unexplained = not mistake and "signature_not_hex" not in form_mistakes
    return Verdict(mistakes, False, True, compare_parts(parts, mistake, pasted), is_unexplained)


def _find_mistake(pasted: PastedRequest, parts: Signed, signature: bytes, secret: str) -> str:
    host, api_key = parsing.find_host(pasted).encode(), parsing.strip_decoration(pasted.api_key)
    pasted_timestamp = parsing.strip_decoration(pasted.timestamp).encode()
    for timestamp in dict.fromkeys((parts.timestamp, pasted_timestamp)):
        for body in parsing.body_variants(pasted.body):
            candidate = parts._replace(timestamp=timestamp, body=body)
            # Then only the form of the timestamp is wrong.
            if timestamp != parts.timestamp and signing.is_valid(secret, candidate, signature):
                return parsing.parse_timestamp(pasted.timestamp).mistake
            found = diagnose_signature(
                candidate, signature, secret=secret, api_key=api_key, host=host
            )
            if found is not None:
                return found
    return ""


def compare_parts(parts: Signed, mistake: str, pasted: PastedRequest) -> list[Part]:
    """Each part as it must be signed, and as it was probably signed."""
    received = {
        "timestamp": parts.timestamp.decode(),
        "method": parts.method.decode(),
        "target": parts.target.decode(),
        "body": signing.body_sha256(parts.body).decode(),
    }
    signed = {
        "timestamp": parsing.strip_decoration(pasted.timestamp),
        "method": pasted.method.strip(),
        "target": parsing.strip_decoration(pasted.target),
    }
    host = parsing.find_host(pasted)
    changed_parts = _signed_by_mistake(mistake, received["method"], received["target"], host)
    return _pair(received, signed | changed_parts)


def compare_refusal(
    timestamp: str, method: str, target: str, digest: str, mistake: str
) -> list[Part]:
    """The same for a recorded refusal, which has only the hash of the body."""
    received = {"timestamp": timestamp, "method": method, "target": target, "body": digest}
    return _pair(received, _signed_by_mistake(mistake, method, target, ""))


def _pair(received: dict[str, str], signed: dict[str, str]) -> list[Part]:
    return [Part(name, text, signed.get(name, text)) for name, text in received.items()]


def _signed_by_mistake(mistake: str, method: str, target: str, host: str) -> dict[str, str]:
    """The parts that a known mistake changes; as the body, "" stands for something else."""
    if mistake in _OF_THE_BODY:
        return {"body": _EMPTY if mistake == "body_omitted" else ""}
    changed_parts: dict[str, dict[str, str]] = {
        "method_lowercase": {"method": method.lower()},
        "method_differs": {"method": "…"},
        "timestamp_not_signed": {"timestamp": ""},
        "target_not_signed": {"target": ""},
        "target_differs": {"target": "…"},
        "query_string_not_signed": {"target": target.partition("?")[0]},
        "trailing_question_mark": {"target": f"{target}?"},
        "full_url_signed": {"target": f"https://{host or '…'}{target}"},
        "api_prefix_missing": {"target": f"…{target.removeprefix('/api/v1/external')}"},
        "target_percent_decoded": {"target": unquote(target)},
    }
    return changed_parts.get(mistake, {})
