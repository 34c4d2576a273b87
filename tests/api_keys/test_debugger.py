"""Settings → API keys → Debug names the mistake, and shows no secret."""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from sealdesk.crypto import signing
from sealdesk.crypto.mistakes import MISTAKES
from sealdesk.crypto.signing import Signed
from tests.support.client import Key, send
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import PASSWORD, Page, Visitor
from tests.support.service import Service, Tenant

DEBUG = "/settings/api-keys/debug"
TARGET = "/api/v1/external/tickets?tag=a%20b"
AT = "1772442941"
BODY = '{"subject": "ä",  "b": 1}'
_HEX = re.compile(r"\b[0-9a-f]{64}\b")


def _look(visitor: Visitor, key: Key, **fields: Any) -> Page:
    form = visitor.get(f"{DEBUG}?key={key.id}").form(DEBUG)
    known = {"method": "POST", "target": TARGET, "timestamp": AT, "body": BODY}
    page = visitor.submit(form, **{**known, "signature": "0" * 64, **fields})
    assert_page_is_secure(page)
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
    "secret_as_signature": lambda k: k.api_secret,
    "newline_appended": lambda k: _hmac(k.api_secret, f"{_TEXT}{_DIGEST}\n"),
    "body_reserialised_default": lambda k: _hmac(
        k.api_secret, _TEXT + _sha('{"subject": "\\u00e4", "b": 1}')
    ),
}
# Mistakes that a request with a body or a query cannot show, or that stand in another field.
_OTHERS: dict[str, tuple[dict[str, str], Callable[[Key], str]]] = {
    "trailing_question_mark": (
        {"target": "/api/v1/x", "body": ""},
        lambda k: _hmac(k.api_secret, f"{AT}POST/api/v1/x?{_sha('')}"),
    ),
    "body_not_sent": ({"body": ""}, lambda k: _hmac(k.api_secret, _TEXT + _sha("{}"))),
    "timestamp_milliseconds": (
        {"timestamp": f"{AT}123"},
        lambda k: _hmac(k.api_secret, f"{AT}123POST{TARGET}{_DIGEST}"),
    ),
    "timestamp_not_seconds": (
        {"timestamp": f"{AT}.25"},
        lambda k: _hmac(k.api_secret, f"{AT}.25POST{TARGET}{_DIGEST}"),
    ),
    "pasted_line_ends": ({"body": f"{BODY}\n\n"}, _right),
}


def test_a_known_mistake_is_named(visitor: Visitor, key: Key) -> None:
    for name, mistake in _MISTAKES.items():
        signature = mistake(key)
        page = _look(visitor, key, signature=signature, api_key=key.api_key, host="desk.test")
        assert _told(page)[-1:] == [name]
        _assert_nothing_secret(page, key)
    for name, (fields, mistake) in _OTHERS.items():
        assert _told(_look(visitor, key, **fields, signature=mistake(key))) == [name]


def test_every_mistake_of_this_file_has_an_explanation() -> None:
    assert {*_MISTAKES, *_OTHERS} <= MISTAKES.keys()


def _told(page: Page) -> list[str]:
    """The names of mistakes that the page names, in its order."""
    reported = page.text.partition("Result")[2].partition("Part To be signed")[0]
    return [word for word in reported.split() if word in _MISTAKES or word in _OTHERS]


def test_the_interface_names_the_same_mistakes(visitor: Visitor, key: Key) -> None:
    """Sends requests with each mistake, and selects the recorded refusals."""
    body = BODY.encode()
    for name, mistake in _MISTAKES.items():
        at = key.signature_headers("POST", TARGET, body)["x-api-timestamp"]
        signature = mistake(key) if name not in _SENT else _SENT[name](key, at)
        sent = {
            "x-api-key": key.api_key, "x-api-timestamp": at, "x-api-signature": signature,
            "content-type": "application/json",
        }  # fmt: skip
        response = send(key.service, "POST", TARGET, body, sent)
        assert response.status_code == 401, name
        if name in _SENT:
            assert response.json()["diagnosis"] == name
            link = next(at for at in visitor.get(f"{DEBUG}?key={key.id}").links if "refusal=" in at)
            assert _told(visitor.get(link)) == [name]


def _sent(change: Callable[[str], str]) -> Callable[[Key, str], str]:
    """A mistake in the message of a request that is made now."""
    return lambda key, at: _hmac(key.api_secret, change(f"{at}POST{TARGET}{_DIGEST}"))


_SENT: dict[str, Callable[[Key, str], str]] = {
    "method_lowercase": _sent(lambda text: text.replace("POST", "post")),
    "query_string_not_signed": _sent(lambda text: text.replace("?tag=a%20b", "")),
    "api_prefix_missing": _sent(lambda text: text.replace("/api/v1", "")),
    "target_percent_decoded": _sent(lambda text: text.replace("%20", " ")),
    "newline_appended": _sent(lambda text: f"{text}\n"),
    "body_omitted": _sent(lambda text: text[:-64]),
    "body_not_hashed": _sent(lambda text: text[:-64] + BODY),
    "body_reserialised_compact": _sent(lambda text: text[:-64] + _sha(_COMPACT)),
    "secret_as_signature": lambda key, at: key.api_secret,
    "uppercase_hex": lambda key, at: "A" * 64,
}


def _assert_nothing_secret(page: Page, key: Key) -> None:
    """The page shows neither the secret nor the right signature, unless it was pasted."""
    assert key.api_secret not in page.answer.text
    assert "this signature is right" not in page.text.lower()
    typed = {value for tag, name, value in page.attributes if (tag, name) == ("input", "value")}
    shown = {*_HEX.findall(page.answer.text)} - {*_HEX.findall(" ".join(typed))}
    assert _right(key) not in shown


# What people paste, and which of it differs from what is to be signed.
_PASTES: tuple[tuple[dict[str, str], int], ...] = (
    ({"method": "post"}, 1),
    ({"target": f"https://desk.test{TARGET}"}, 1),
    ({"target": f"desk.test:8000{TARGET}"}, 1),
    ({"target": f"POST {TARGET} HTTP/1.1"}, 1),
    ({"target": f"{TARGET}#part"}, 1),
    ({"target": TARGET.replace("%20", " ")}, 1),
    ({"target": f'"{TARGET}"'}, 0),
    ({"timestamp": f" {AT} "}, 0),
    ({"timestamp": f"x-api-timestamp: {AT}"}, 0),
    ({"api_key": "\ufeffx-api-key: {key}"}, 0),
    ({"signature": "x-api-signature: {right}\ufeff"}, 0),
    ({"signature": "{right}".replace("}", "} ")}, 0),
)


def test_a_correct_signature_is_recognised_however_it_was_pasted(
    visitor: Visitor, key: Key
) -> None:
    for fields, differing in _PASTES:
        names = {"{right}": _right(key), "{key}": key.api_key}
        given = {name: _put_in(value, names) for name, value in fields.items()}
        page = _look(visitor, key, **{"signature": _right(key), **given})
        assert "This signature is correct." in page.text, fields
        assert page.text.count("differs") == differing, fields
        assert "is not the selected key" not in page.text
        assert f"{_TEXT}{_DIGEST}" in page.text, fields
        again = dict(page.form(DEBUG).fields)
        assert {name: again[name] for name in given} == given


def _put_in(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(name, value)
    return text


def test_an_invalid_timestamp_is_named_even_if_the_signature_is_correct(
    visitor: Visitor, key: Key
) -> None:
    for text in (f"{AT}123", f"{AT}.5", f"{AT}123456", "2026-03-02T09:15:41Z"):
        page = _look(visitor, key, timestamp=text, signature=_right(key))
        assert _told(page)[0].startswith("timestamp_"), text
        assert "Everything else matches." in page.text and "differs" in page.text


def test_two_mistakes_are_both_named(visitor: Visitor, key: Key) -> None:
    signature = _MISTAKES["query_string_not_signed"](key).upper()
    page = _look(visitor, key, signature=f"(stdin)= {signature}", timestamp=f"{AT}000")
    named = ["timestamp_milliseconds", "signature_prefixed", "query_string_not_signed"]
    assert _told(page) == named
    assert "even without this mistake" not in page.text
    _assert_nothing_secret(page, key)
    unknown = _look(visitor, key, timestamp=f"{AT}000")
    assert "wrong even without this mistake" in unknown.text


@for_each(
    ("pasted", "sent"),
    [
        ("a\nb", "a\r\nb"), ("a\nb", "a\nb\n"), ("a\nb", "a\r\nb\r\n"), ("a\nb", "\ufeffa\nb"),
        ("\ufeffa", "a"), (" a\t\n\n", "a"),
    ],
)  # fmt: skip
def test_white_space_that_pasting_adds_to_a_body_is_recognised(
    visitor: Visitor, key: Key, pasted: str, sent: str
) -> None:
    page = _look(visitor, key, body=pasted, signature=_right(key, sent))
    assert _told(page) == ["pasted_line_ends"]
    assert _sha(sent) in page.text


def test_a_secret_sent_as_the_signature_is_not_shown_again(visitor: Visitor, key: Key) -> None:
    page = _look(visitor, key, signature=key.api_secret)
    assert "Rotate the key" in page.text
    assert key.api_secret not in page.answer.text


def test_behind_a_proxy_the_path_is_checked_with_its_prefix(start: Callable[..., Service]) -> None:
    tenant = start(SEALDESK_EXTERNAL_PATH_PREFIX="/support").tenant()
    key, visitor = tenant.key(), Visitor(tenant.service)
    # There is no proxy here to take the prefix away: what leads on leads past the service.
    visitor.post("/log-in", [("email", tenant.admin_email), ("password", PASSWORD)])
    form = visitor.get(f"{DEBUG}?key={key.id}").form(f"/support{DEBUG}")._replace(action=DEBUG)
    known = {"method": "GET", "timestamp": AT}
    right = _hmac(key.api_secret, f"{AT}GET/support{TARGET}{_sha('')}")
    for target in (TARGET, f"/support{TARGET}"):
        page = visitor.submit(form, **known, target=target, signature=right)
        assert "This signature is correct." in page.text, target
    wrong = _hmac(key.api_secret, f"{AT}GET{TARGET}{_sha('')}")
    page = visitor.submit(form, **known, target=TARGET, signature=wrong)
    assert _told(page) == ["api_prefix_missing"]


def test_refusals_of_the_newest_and_of_a_very_old_key_are_listed(
    visitor: Visitor, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealdesk.api_keys.debugger.pages._KEYS_OFFERED", 2)
    keys = [tenant.key() for _ in range(4)]
    for key in keys:
        key.get(TARGET, x_api_signature="0" * 64)
    page = visitor.get(DEBUG)
    assert page.form(DEBUG).value("key") == keys[-1].id
    assert keys[-1].id in next(link for link in page.links if "refusal=" in link)
    form = visitor.get(f"{DEBUG}?key={keys[0].id}").form(f"{DEBUG}#kept")
    assert form.value("key") == keys[0].id
    page = _look(visitor, keys[0], signature=_right(keys[0]))
    assert "This signature is correct." in page.text


def test_an_unknown_mistake_lists_what_to_check(visitor: Visitor, key: Key) -> None:
    page = _look(visitor, key)
    assert "No known mistake explains this signature." in page.text
    assert _DIGEST in page.text
    _assert_nothing_secret(page, key)


def test_a_different_key_is_reported_without_its_owner(
    visitor: Visitor, key: Key, tenant: Tenant, service: Service
) -> None:
    words = "is not the selected key"
    for other in (tenant.key().api_key, service.tenant().key().api_key, "tk_live_", "<b>"):
        page = _look(visitor, key, api_key=other)
        assert words in page.text, other
    assert words not in _look(visitor, key, api_key=key.api_key).text


def test_the_signature_of_a_revoked_key_cannot_be_checked(visitor: Visitor, key: Key) -> None:
    at = f"/settings/api-keys/{key.id}/revoke"
    visitor.submit(visitor.get(at).form(at))
    page = _look(visitor, key, signature=_right(key))
    assert "its secret is deleted" in page.text
    assert "is correct" not in page.text


def test_a_missing_value_is_reported_at_its_field(visitor: Visitor, key: Key) -> None:
    for field in ("method", "target", "timestamp", "signature"):
        page = _look(visitor, key, **{field: " "})
        assert page.status == 422
        assert ("p", "id", f"{field}-fault") in page.attributes
        assert "Result" not in page.text
        assert dict(page.form(DEBUG).fields)["body"].strip() == BODY


def test_a_recorded_refusal_can_be_selected(visitor: Visitor, key: Key) -> None:
    headers = key.signature_headers("GET", "/api/v1/external/tickets")
    key.get(TARGET, **{name.replace("-", "_"): value for name, value in headers.items()})
    at = f"/settings/api-keys/{key.id}"
    (link,) = [link for link in visitor.get(at).links if "refusal=" in link]
    page = visitor.get(link)
    assert_page_is_secure(page)
    assert "query_string_not_signed" in page.text
    assert "The query was not signed." in page.text
    (row,) = [part for part in page.text.split("Path and query") if "differs" in part]
    assert f"{TARGET} /api/v1/external/tickets differs" in row
    fields = dict(page.form(DEBUG).fields)
    assert (fields["method"], fields["target"], fields["key"]) == ("GET", TARGET, key.id)
    assert fields["timestamp"] == headers["x-api-timestamp"]
    assert page.text.count("differs") == 1
    _assert_nothing_secret(page, key)


@pytest.mark.parametrize(
    ("wrong_by_s", "clock_error", "row"),
    [
        (-15 * 60 - 30, "15 minutes behind the server's", "too old"),
        (2 * 3600 + 30, "120 minutes ahead of the server's", "in the future"),
    ],
)
def test_a_wrong_clock_is_named_with_its_error(
    visitor: Visitor, key: Key, wrong_by_s: int, clock_error: str, row: str
) -> None:
    key.get(TARGET, x_api_timestamp=str(int(time.time()) + wrong_by_s))
    (link,) = [link for link in visitor.get(f"{DEBUG}?key={key.id}").links if "refusal=" in link]
    text = visitor.get(link).text
    assert f"The client's clock was {clock_error}." in text
    assert text.count(row) == 1


def test_a_refusal_with_another_code_links_to_its_explanation(visitor: Visitor, key: Key) -> None:
    key.get(TARGET, x_api_timestamp="1000000000")
    (link,) = [link for link in visitor.get(f"{DEBUG}?key={key.id}").links if "refusal=" in link]
    page = visitor.get(link)
    assert "timestamp_out_of_range" in page.text
    assert "/docs/errors#timestamp_out_of_range" in page.links


def test_a_refusal_of_an_earlier_version_is_shown_without_its_diagnosis(
    visitor: Visitor, key: Key, service: Service
) -> None:
    key.get(TARGET, x_api_signature="0" * 64)
    earlier = "UPDATE refusals SET diagnosis = 'secret_probably_wrong' WHERE key_id = :id"
    service.write(lambda tx: tx.execute(earlier, {"id": key.id}))
    (link,) = [link for link in visitor.get(f"{DEBUG}?key={key.id}").links if "refusal=" in link]
    assert "No known mistake explains this signature." in visitor.get(link).text


def test_keys_of_another_tenant_are_not_found(visitor: Visitor, key: Key, service: Service) -> None:
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
    assert "is correct" not in page.text


_ODD = (*HOSTILE_TEXTS, "ä" * 300, "\ud7ff\ue000", "9" * 5000, "٣" * 10, "https://[", "http://")


def test_hostile_text_is_shown_as_text(visitor: Visitor, key: Key) -> None:
    names = ("method", "target", "timestamp", "body", "signature", "api_key", "host")
    for text in _ODD:
        page = _look(visitor, key, **dict.fromkeys(names, text))
        assert page.status in (200, 422)
        assert page.tags.count("script") == 1
        assert page.tags.count("svg") == 0 and page.tags.count("img") == 1
