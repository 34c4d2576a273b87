"""Signatures of webhooks: valid ones, and the named mistakes of invalid ones."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from typing import get_args

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from sealdesk.crypto import webhook_signing
from sealdesk.crypto.webhook_signing import Captured, Mistake, find_mistake
from tests.support.for_each import for_each

NOW = 1_800_000_000
ID = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
SECRET = webhook_signing.mint_secret()
KEY = base64.b64decode(SECRET.removeprefix("whsec_"))
OBJECT = {"subject": "Grüße, 日本", "tags": [], "price": 1.5, "url": "https://a.test/b"}
BODY = json.dumps({"id": ID, "data": OBJECT}, separators=(",", ":"), ensure_ascii=False).encode()


def signed(body: bytes = BODY, at: int = NOW) -> Captured:
    """A webhook as Sealdesk sends it."""
    return Captured(ID, str(at), webhook_signing.sign(KEY, ID, at, body), body)


def by_hand(message: bytes, key: bytes = KEY) -> Captured:
    """A webhook with a differently computed signature."""
    signature = "v1," + base64.b64encode(hmac.digest(key, message, "sha256")).decode()
    return signed()._replace(signature=signature)


def test_a_secret_is_32_random_bytes() -> None:
    assert len(webhook_signing.key_of(SECRET)) == 32
    assert webhook_signing.mint_secret() != SECRET


def edited(change: Callable[[bytes], bytes]) -> Captured:
    """A webhook whose body was changed after it had been signed."""
    return signed()._replace(body=change(BODY))


def parsed_and_dumped(**how: object) -> Captured:
    return edited(lambda body: json.dumps(json.loads(body), **how).encode())  # type: ignore[arg-type]


HEAD = f"{ID}.{NOW}.".encode()
DIGEST = hmac.digest(KEY, HEAD + BODY, "sha256")
TEXT = base64.b64encode(DIGEST).decode()
MISTAKES: list[tuple[Mistake, str, Captured]] = [
    ("secret_is_a_signature", f"v1,{TEXT}", signed()),
    ("secret_of_the_api", "9f" * 32, signed()),
    ("secret_of_the_api", "tk_live_" + "0" * 40, signed()),
    ("secret_malformed", SECRET[:-2], signed()),
    ("secret_malformed", f'"{SECRET}"', signed()),
    ("secret_malformed", "whsec_c2hvcnQ=", signed()),
    ("id_missing", SECRET, signed()._replace(webhook_id="")),
    ("timestamp_missing", SECRET, signed()._replace(timestamp="")),
    ("signature_missing", SECRET, signed()._replace(signature=" ")),
    ("body_missing", SECRET, edited(lambda _: b"")),
    ("timestamp_milliseconds", SECRET, signed(at=NOW * 1000)),
    ("timestamp_not_seconds", SECRET, signed()._replace(timestamp="2027-01-15T08:00:00Z")),
    ("signature_hex", SECRET, signed()._replace(signature=f"v1,{DIGEST.hex()}")),
    ("signature_hex", SECRET, signed()._replace(signature=DIGEST.hex())),
    ("signature_url_safe", SECRET, signed()._replace(signature="v1," + "ab-_" * 10 + "xyz=")),
    ("signature_without_version", SECRET, signed()._replace(signature=TEXT)),
    ("signature_without_version", SECRET, signed()._replace(signature=f"v1={TEXT}")),
    ("signature_malformed", SECRET, signed()._replace(signature=f"v1,{TEXT[:20]}")),
    ("body_newline", SECRET, edited(lambda body: body + b"\n")),
    ("body_newline", SECRET, edited(lambda body: b"\xef\xbb\xbf" + body + b"\r\n")),
    ("body_newline", SECRET, by_hand(HEAD + BODY + b"\n")),
    ("body_reserialised", SECRET, parsed_and_dumped()),
    ("body_reserialised", SECRET, parsed_and_dumped(indent=2)),
    ("body_reserialised", SECRET, parsed_and_dumped(ensure_ascii=False)),
    ("body_reserialised", SECRET, edited(lambda body: body.replace(b"/", b"\\/"))),
    ("body_reserialised", SECRET, by_hand(HEAD + json.dumps(json.loads(BODY)).encode())),
    ("body_encoded_twice", SECRET, edited(lambda body: body.decode("latin-1").encode())),
    ("body_encoded_twice", SECRET, edited(lambda body: json.dumps(body.decode()).encode())),
    ("body_hashed", SECRET, by_hand(HEAD + hashlib.sha256(BODY).hexdigest().encode())),
    ("id_not_signed", SECRET, by_hand(f"{NOW}.".encode() + BODY)),
    ("timestamp_not_signed", SECRET, by_hand(f"{ID}.".encode() + BODY)),
    ("only_body_signed", SECRET, by_hand(BODY)),
    ("dots_not_signed", SECRET, by_hand(f"{ID}{NOW}".encode() + BODY)),
    ("secret_not_decoded", SECRET, by_hand(HEAD + BODY, SECRET.encode())),
    ("secret_not_decoded", SECRET, by_hand(HEAD + BODY, SECRET.removeprefix("whsec_").encode())),
    ("signature_mismatch", webhook_signing.mint_secret(), signed()),
    ("signature_mismatch", SECRET, edited(lambda body: body.replace(b"1.5", b"2.5"))),
    ("signature_mismatch", SECRET, signed()._replace(timestamp=str(NOW + 1))),
    ("timestamp_too_old", SECRET, signed(at=NOW - 301)),
    ("timestamp_in_future", SECRET, signed(at=NOW + 301)),
]


@for_each(("name", "secret", "captured"), MISTAKES)
def test_the_mistake_is_named(name: Mistake, secret: str, captured: Captured) -> None:
    assert find_mistake(secret, captured, NOW) == name


def test_every_mistake_has_a_case() -> None:
    assert {name for name, *_ in MISTAKES} == set(get_args(Mistake))


@pytest.mark.parametrize("age_s", [-300, 0, 300])
def test_timestamp_five_minutes_off_is_valid(age_s: int) -> None:
    assert find_mistake(SECRET, signed(at=NOW - age_s), NOW) is None


def test_a_secret_without_its_prefix_is_the_same_secret() -> None:
    assert find_mistake(SECRET.removeprefix("whsec_"), signed(), NOW) is None


def test_one_of_several_signatures_is_enough() -> None:
    other = webhook_signing.sign(secrets.token_bytes(32), ID, NOW, BODY)
    for signature in (f"{other} {signed().signature}", f"{signed().signature} {other} v1a,AAAA"):
        assert find_mistake(SECRET, signed()._replace(signature=signature), NOW) is None


def test_a_signature_of_another_version_does_not_count() -> None:
    other = f"v2,{TEXT} v1,{base64.b64encode(bytes(32)).decode()}"
    assert find_mistake(SECRET, signed()._replace(signature=other), NOW) == "signature_mismatch"


def test_the_official_library_agrees() -> None:
    now = int(time.time())
    cases = [signed(body, now) for body in (BODY, b"{}", b"[1]", json.dumps(OBJECT).encode())]
    cases += [case._replace(body=case.body + b" ") for case in cases]
    cases += [case._replace(webhook_id=f"{ID}x") for case in cases]
    ours = [find_mistake(SECRET, case, now) is None for case in cases]
    assert ours == [_is_accepted(case) for case in cases]
    assert ours.count(True) == 4


def _is_accepted(captured: Captured) -> bool:
    headers = {
        "webhook-id": captured.webhook_id,
        "webhook-timestamp": captured.timestamp,
        "webhook-signature": captured.signature,
    }
    try:
        Webhook(SECRET).verify(captured.body, headers)
    except WebhookVerificationError:
        return False
    return True
