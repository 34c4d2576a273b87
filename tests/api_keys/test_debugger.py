"""Settings → API Keys → Debug names the mistake, and shows no secret."""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Any

import pytest

from sealdesk import signing
from sealdesk.signing import Signed
from tests.support.client import Key
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant
from tests.web.test_pages import assert_guarded
from tests.webhooks.test_pages import HOSTILE

DEBUG = "/settings/api-keys/debug"
TARGET = "/api/v1/external/tickets?tag=a%20b"
AT = "1772442941"
BODY = '{"subject": "ä",  "b": 1}'
_HEX = re.compile(r"\b[0-9a-f]{64}\b")


@pytest.fixture
def visitor(tenant: Tenant) -> Visitor:
    return logged_in(tenant)


def _look(visitor: Visitor, key: Key, **fields: Any) -> Page:
    form = visitor.get(f"{DEBUG}?key={key.id}").form(DEBUG)
    known = {"method": "POST", "target": TARGET, "timestamp": AT, "body": BODY}
    page = visitor.submit(form, **{**known, "signature": "0" * 64, **fields})
    assert_guarded(page)
    return page


def _hmac(key: str | bytes, text: str | bytes) -> str:
    secret = key if isinstance(key, bytes) else key.encode()
    message = text if isinstance(text, bytes) else text.encode()
    return hmac.new(secret, message, "sha256").hexdigest()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _right(key: Key, body: str = BODY) -> str:
    return signing.sign(
        key.api_secret, Signed(AT.encode(), b"POST", TARGET.encode(), body.encode())
    )


_DIGEST = _sha(BODY)
_TEXT = f"{AT}POST{TARGET}"
_COMPACT = '{"subject":"ä","b":1}'
_MISTAKES: dict[str, Callable[[Key], str]] = {
    "method_lowercase": lambda k: _hmac(k.api_secret, f"{AT}post{TARGET}{_DIGEST}"),
    "query_string_not_signed": lambda k: _hmac(
        k.api_secret, f"{AT}POST/api/v1/external/tickets{_DIGEST}"
    ),
    "full_url_signed": lambda k: _hmac(k.api_secret, f"{AT}POSThttps://desk.test{TARGET}{_DIGEST}"),
    "api_prefix_missing": lambda k: _hmac(
        k.api_secret, f"{AT}POST/external/tickets?tag=a%20b{_DIGEST}"
    ),
    "target_percent_decoded": lambda k: _hmac(
        k.api_secret, f"{AT}POST/api/v1/external/tickets?tag=a b{_DIGEST}"
    ),
    "newline_separators": lambda k: _hmac(k.api_secret, "\n".join((AT, "POST", TARGET, _DIGEST))),
    "dot_separators": lambda k: _hmac(k.api_secret, ".".join((AT, "POST", TARGET, _DIGEST))),
    "secret_hex_decoded": lambda k: _hmac(bytes.fromhex(k.api_secret), _TEXT + _DIGEST),
    "signed_with_api_key": lambda k: _hmac(k.api_key, _TEXT + _DIGEST),
    "body_not_hashed": lambda k: _hmac(k.api_secret, _TEXT + BODY),
    "body_omitted": lambda k: _hmac(k.api_secret, _TEXT),
    "body_reserialised_compact": lambda k: _hmac(k.api_secret, _TEXT + _sha(_COMPACT)),
    "uppercase_hex": lambda k: _right(k).upper(),
    "signature_prefixed": lambda k: f"sha256={_right(k)}",
    "signature_base64": lambda k: base64.b64encode(bytes.fromhex(_right(k))).decode(),
    "signature_not_hex": lambda k: _right(k)[:-1],
}


def test_a_known_mistake_is_named(visitor: Visitor, key: Key) -> None:
    for name, mistake in _MISTAKES.items():
        signature = mistake(key)
        page = _look(visitor, key, signature=signature, api_key=key.api_key, host="desk.test")
        told = page.text.partition("What is wrong")[2].partition("Part")[0]
        assert name in told.split()
        _assert_nothing_secret(page, key)


def _assert_nothing_secret(page: Page, key: Key) -> None:
    """Neither the secret nor the signature that would be right, unless it was typed."""
    assert key.api_secret not in page.answer.text
    typed = {value for tag, name, value in page.attributes if (tag, name) == ("input", "value")}
    shown = {*_HEX.findall(page.answer.text)} - {*_HEX.findall(" ".join(typed))}
    assert _right(key) not in shown


@pytest.mark.parametrize(
    "fields",
    [
        {"method": "post"},
        {"target": f"https://desk.test{TARGET}"},
        {"target": f"{TARGET}#part"},
        {"timestamp": f" {AT} "},
    ],
    ids=["method", "url", "fragment", "spaces"],
)
def test_what_was_pasted_differs_from_what_is_to_be_signed(
    visitor: Visitor, key: Key, fields: dict[str, str]
) -> None:
    page = _look(visitor, key, signature=_right(key), **fields)
    assert "This signature is right." in page.text
    ((name, value),) = fields.items()
    assert page.text.count("differs") == (value.strip() != AT)
    assert f"{_TEXT}{_DIGEST}" in page.text
    assert dict(page.form(DEBUG).fields)[name] == value


def test_a_timestamp_in_milliseconds_is_named(visitor: Visitor, key: Key) -> None:
    signature = _hmac(key.api_secret, f"{AT}123POST{TARGET}{_DIGEST}")
    page = _look(visitor, key, timestamp=f"{AT}123", signature=signature)
    assert "timestamp_milliseconds" in page.text
    assert "differs" in page.text


@pytest.mark.parametrize("body", ["a\r\nb", "a\nb\n", "a\r\nb\r\n"])
def test_ends_of_lines_that_pasting_changed_are_forgiven(
    visitor: Visitor, key: Key, body: str
) -> None:
    page = _look(visitor, key, body="a\nb", signature=_right(key, body))
    assert "pasted_line_ends" in page.text
    assert _sha(body) in page.text


def test_an_unknown_mistake_leads_to_where_to_look(visitor: Visitor, key: Key) -> None:
    page = _look(visitor, key)
    assert "It is none of the known mistakes." in page.text
    assert _DIGEST in page.text
    _assert_nothing_secret(page, key)


def test_a_key_that_was_mixed_up_is_told_and_not_whose_it_is(
    visitor: Visitor, key: Key, tenant: Tenant, service: Service
) -> None:
    words = "is not the key that you chose"
    for other in (tenant.key().api_key, service.tenant().key().api_key, "tk_live_", "<b>"):
        page = _look(visitor, key, api_key=other)
        assert words in page.text, other
    assert words not in _look(visitor, key, api_key=key.api_key).text


def test_a_revoked_key_has_no_secret_to_look_with(visitor: Visitor, key: Key) -> None:
    at = f"/settings/api-keys/{key.id}/revoke"
    visitor.submit(visitor.get(at).form(at))
    page = _look(visitor, key, signature=_right(key))
    assert "its secret is destroyed" in page.text
    assert "is right" not in page.text


def test_what_is_missing_is_said_beside_the_field(visitor: Visitor, key: Key) -> None:
    for field in ("method", "target", "timestamp", "signature"):
        page = _look(visitor, key, **{field: " "})
        assert page.status == 422
        assert ("p", "id", f"{field}-fault") in page.attributes
        assert "What is wrong" not in page.text
        assert dict(page.form(DEBUG).fields)["body"].strip() == BODY


def test_a_refusal_that_was_kept_is_picked(visitor: Visitor, key: Key) -> None:
    headers = key.signature_headers("GET", "/api/v1/external/tickets")
    key.get(TARGET, **{name.replace("-", "_"): value for name, value in headers.items()})
    at = f"/settings/api-keys/{key.id}"
    (link,) = [link for link in visitor.get(at).links if "refusal=" in link]
    page = visitor.get(link)
    assert_guarded(page)
    assert "query_string_not_signed" in page.text
    assert "The query was left out." in page.text
    (row,) = [part for part in page.text.split("Path and query") if "differs" in part]
    assert f"{TARGET} /api/v1/external/tickets differs" in row
    fields = dict(page.form(DEBUG).fields)
    assert (fields["method"], fields["target"], fields["key"]) == ("GET", TARGET, key.id)
    assert fields["timestamp"] == headers["x-api-timestamp"]
    assert page.text.count("differs") == 1
    _assert_nothing_secret(page, key)


def test_a_refusal_of_another_kind_says_what_its_code_means(visitor: Visitor, key: Key) -> None:
    key.get(TARGET, x_api_timestamp="1000000000")
    (link,) = [link for link in visitor.get(f"{DEBUG}?key={key.id}").links if "refusal=" in link]
    page = visitor.get(link)
    assert "timestamp_out_of_range" in page.text
    assert "/docs/errors#timestamp_out_of_range" in page.links


def test_what_is_foreign_is_not_there(visitor: Visitor, key: Key, service: Service) -> None:
    foreign = service.tenant().key()
    foreign.get(TARGET, x_api_signature="0" * 64)
    (row,) = service.rows("SELECT id FROM refusals WHERE key_id = :id LIMIT 2", id=foreign.id)
    for query in (
        f"key={foreign.id}",
        f"key={foreign.id}&refusal={row[0]}",
        f"key={key.id}&refusal={row[0]}",
        "key=nothing",
    ):
        assert visitor.get(f"{DEBUG}?{query}").status == 404, query
    form = visitor.get(DEBUG).form(DEBUG)
    sent = {"method": "POST", "target": TARGET, "timestamp": AT, "body": BODY}
    page = visitor.submit(form, **sent, key=foreign.id, signature=_right(foreign))
    assert (page.status, "There is no such key" in page.text) == (422, True)
    assert "is right" not in page.text


_ODD = (*HOSTILE, "ä" * 300, "\ud7ff\ue000", "9" * 5000, "٣" * 10, "https://[", "http://")


def test_hostile_text_is_shown_as_text(visitor: Visitor, key: Key) -> None:
    names = ("method", "target", "timestamp", "body", "signature", "api_key", "host")
    for text in _ODD:
        page = _look(visitor, key, **dict.fromkeys(names, text))
        assert page.status in (200, 422)
        assert page.tags.count("script") == 1
        assert page.tags.count("svg") == 0 and page.tags.count("img") == 1
