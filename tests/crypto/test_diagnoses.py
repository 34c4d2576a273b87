"""Mistakes that developers make when they sign, each as their program makes it, and their names."""

import hmac
import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from sealdesk.crypto.diagnosis import diagnose, forms
from sealdesk.crypto.mistakes import DIAGNOSES, MISTAKES
from sealdesk.crypto.signing import Signed, message
from tests.support.for_each import for_each
from tests.vectors import API_KEY, API_SECRET

HOST = b"desk.test:8000"
AT = b"1767225600"
PATH = b"/api/v1/external/tickets"
QUERY = b"status=open&per_page=5&assignee=a"
SECRET = API_SECRET.encode()
VALUE = {"subject": "Größe", "url": "https://a.test/b", "b": [1, 2.5], "a": {"z": "<b>", "c": None}}
COMPACT = json.dumps(VALUE, ensure_ascii=False, separators=(",", ":")).encode()
DEFAULT = json.dumps(VALUE).encode()


class Attempt(NamedTuple):
    """A request with a wrong signature. name: of the mistake, None if it is not known."""

    program: str
    name: str | None
    sent: Signed
    signature: str


def _get(target: bytes) -> Signed:
    return Signed(AT, b"GET", target, b"")


def _post(body: bytes) -> Signed:
    return Signed(AT, b"POST", PATH, body)


def _hmac(text: bytes, key: bytes = SECRET) -> str:
    return hmac.new(key, text, "sha256").hexdigest()


def _digest(body: bytes) -> bytes:
    return sha256(body).hexdigest().encode()


LIST = _get(PATH + b"?" + QUERY)
NEW = _post(DEFAULT)
SIGNED = message(LIST)


def _of_the_message() -> Iterator[Attempt]:
    timestamp, method, target, body = NEW
    digest = _digest(body)
    parts = (timestamp, method, target, digest)
    for program, name, text in (
        ("method: 'post'", "method_lowercase", timestamp + b"post" + target + digest),
        ("POST after a redirect", "method_differs", timestamp + b"GET" + target + digest),
        ("f'{timestamp}{method}{digest}'", "target_not_signed", timestamp + method + digest),
        ("f'{method}{path}{digest}'", "timestamp_not_signed", method + target + digest),
        ("'\\n'.join", "newline_separators", b"\n".join(parts)),
        ("'.'.join", "dot_separators", b".".join(parts)),
        ("echo $MESSAGE | openssl", "newline_appended", message(NEW) + b"\n"),
        ("the body itself", "body_not_hashed", timestamp + method + target + body),
        ("no body", "body_omitted", timestamp + method + target),
        ("the hash of ''", "body_omitted", timestamp + method + target + _digest(b"")),
        ("Date.now() signed", None, b"1767225600123" + method + target + digest),
        ("content type signed", None, message(NEW) + b"application/json"),
        ("method first", None, method + target + timestamp + digest),
        ("digest('base64')", None, timestamp + method + target + b64encode(sha256(body).digest())),
    ):
        yield Attempt(program, name, NEW, _hmac(text))


def _of_the_target() -> Iterator[Attempt]:
    for program, name, sent, signed in (
        ("url.pathname", "query_string_not_signed", PATH + b"?" + QUERY, PATH),
        ("request.url + '?'", "trailing_question_mark", PATH, PATH + b"?"),
        ("unquote(path)", "target_percent_decoded", PATH + b"?q=%C3%A4%20b",
         unquote((PATH + b"?q=%C3%A4%20b").decode()).encode()),
        ("request.url, https", "full_url_signed", PATH, b"https://" + HOST + PATH),
        ("request.url, http", "full_url_signed", PATH, b"http://" + HOST + PATH),
        ("path of the client's base", "api_prefix_missing", PATH, b"/tickets"),
        ("path below /api", "api_prefix_missing", PATH, b"/v1/external/tickets"),
        ("the proxy's prefix", "api_prefix_missing", b"/support" + PATH, PATH),
        ("and /api", "api_prefix_missing", b"/support" + PATH, b"/v1/external/tickets"),
        ("another path in the query", None, PATH + b"?tag=/api/v1/", b"/api/v1/"),
        ("sorted(params)", None, PATH + b"?b=1&a=2", PATH + b"?a=2&b=1"),
        ("another page signed", None, PATH + b"?page=2", PATH + b"?page=1"),
    ):  # fmt: skip
        parts = _get(sent)
        yield Attempt(program, name, parts, _hmac(message(parts._replace(target=signed))))


def _of_the_body() -> Iterator[Attempt]:
    for program, name, sent, hashed in (
        ("json= of requests, dumps hashed", "body_reserialised_default", COMPACT, DEFAULT),
        ("JSON.stringify hashed", "body_reserialised_compact", DEFAULT, COMPACT),
        ("the same in ASCII", "body_reserialised_compact", DEFAULT,
         json.dumps(VALUE, separators=(",", ":")).encode()),
        ("$(cat f), --data-binary @f", "newline_not_signed", COMPACT + b"\n", COMPACT),
        ("the same of Windows", "newline_not_signed", COMPACT + b"\r\n", COMPACT),
        ("sha256sum f, -d @f", "newline_appended", COMPACT, COMPACT + b"\n"),
        ("'{}' hashed", "body_not_sent", b"", b"{}"),
        ("'null' hashed", "body_not_sent", b"", b"null"),
        ("indent=2", None, COMPACT, json.dumps(VALUE, indent=2).encode()),
        ("what is not JSON", None, b"{", b"{}"),
    ):  # fmt: skip
        yield Attempt(program, name, _post(sent), _hmac(message(_post(hashed))))


def _of_the_secret() -> Iterator[Attempt]:
    for program, name, key in (
        ("bytes.fromhex", "secret_hex_decoded", bytes.fromhex(API_SECRET)),
        ("Buffer.from(s, 'base64')", "secret_base64_decoded", b64decode(API_SECRET)),
        ("the API key", "signed_with_api_key", API_KEY.encode()),
        (".upper()", "secret_uppercase", SECRET.upper()),
        ("quotes of an .env file", "secret_quoted", b'"' + SECRET + b'"'),
        ("single quotes", "secret_quoted", b"'" + SECRET + b"'"),
        ("str(b'…')", "secret_quoted", b"b'" + SECRET + b"'"),
        ("a space pasted", "secret_quoted", SECRET + b" "),
        ("open(f).read()", "newline_appended", SECRET + b"\n"),
        ("a CR of Windows", "secret_quoted", SECRET + b"\r"),
        ("a space that nobody sees", "secret_quoted", "\u200b".encode() + SECRET),
        ("a variable that is not set", "secret_empty", b""),
        ("String(undefined)", "secret_empty", b"undefined"),
        ("'$SEALDESK_API_SECRET'", "secret_empty", b"$SEALDESK_API_SECRET"),
        ("the secret before rotation", None, b"0" * 64),
    ):
        yield Attempt(program, name, LIST, _hmac(SIGNED, key))
    for program, name, signature in (
        ("hash_hmac arguments swapped", "secret_and_message_swapped", _hmac(SECRET, SIGNED)),
        ("sha256(secret + message)", "hash_instead_of_hmac", sha256(SECRET + SIGNED).hexdigest()),
        ("sha256(message)", "hash_instead_of_hmac", sha256(SIGNED).hexdigest()),
        ("hmac of sha256(message)", "message_hashed_first", _hmac(_digest(SIGNED))),
        ("the secret as signature", "secret_as_signature", API_SECRET),
    ):
        yield Attempt(program, name, LIST, signature)


ATTEMPTS = [*chain(_of_the_message(), _of_the_target(), _of_the_body(), _of_the_secret())]


def _found(attempt: Attempt) -> str | None:
    signature = attempt.signature.encode()
    return diagnose(attempt.sent, signature, secret=API_SECRET, api_key=API_KEY, host=HOST)


def test_each_mistake_of_developers_is_named() -> None:
    wrong = [
        f"{each.program}: {found} instead of {each.name}"
        for each in ATTEMPTS
        if (found := _found(each)) != each.name
    ]
    assert wrong == []


def test_every_name_is_found_by_an_attempt() -> None:
    by_the_guard = {f"secret_of_{owner}" for owner in ("another_key", "test_key", "webhook")}
    by_the_guard |= {"unknown"}
    # Where the client sends what it has signed: tests/crypto/test_signed_message.
    by_the_guard |= {"timestamp_differs", "target_differs", "body_differs", "other_text_signed"}
    by_the_guard |= {"parts_in_another_order", "other_separators"}
    by_the_guard |= {"signed_message_old", "signed_message_malformed"}
    by_the_guard |= {"secret_or_algorithm_differs"}
    named = {each.name for each in ATTEMPTS if each.name}
    by_signature = {name for name in DIAGNOSES if MISTAKES[name].code == "invalid_signature"}
    assert named | by_the_guard == by_signature


@for_each(
    ("signature", "name"),
    [
        ("ab" * 32, None), ("AB" * 32, "uppercase_hex"),
        (f"sha256={'ab' * 32}", "signature_prefixed"),
        (f"(stdin)={'ab' * 32}", "signature_prefixed"), (f"v1,{'AB' * 32}", "signature_prefixed"),
        (b64encode(bytes(32)).decode(), "signature_base64"),
        (urlsafe_b64encode(b"\xff" * 32).decode().rstrip("="), "signature_base64"),
        ("ab" * 64, "signature_other_algorithm"),
        ("ab" * 20, "signature_other_algorithm"),
        (f'"{"ab" * 32}"', "signature_not_hex"), ("ab" * 31, "signature_not_hex"),
    ],
)  # fmt: skip
def test_the_form_of_a_signature_is_named(signature: str, name: str | None) -> None:
    assert forms.find_signature_mistake(signature) == name


def test_a_secret_is_never_guessed_character_by_character() -> None:
    for length in range(1, 64):
        for key in (SECRET[:length], SECRET[-length:], SECRET[:length] + b"0" * (64 - length)):
            attempt = Attempt("", None, LIST, _hmac(SIGNED, key))
            assert _found(attempt) is None


def test_without_the_secret_only_mistakes_that_need_no_secret_are_named() -> None:
    """Every attempt again, made with another secret."""
    other = "0f" * 32
    named = {
        diagnose(each.sent, each.signature.encode(), secret=other, api_key=API_KEY, host=HOST)
        for each in ATTEMPTS
    }
    assert named == {None, "secret_empty", "signed_with_api_key", "hash_instead_of_hmac"}


bodies = st.one_of(
    st.binary(max_size=80),
    st.text('{}[]",:\\/ua1\t\n é\ud7ff', max_size=60).map(str.encode),
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=3), each),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
)


@given(st.binary(max_size=60), bodies, st.binary(max_size=70))
def test_any_request_is_diagnosed_without_an_error(
    rest: bytes, body: bytes, signature: bytes
) -> None:
    parts = Signed(AT, b"PATCH", b"/" + rest, body)
    assert diagnose(parts, signature, secret=API_SECRET, api_key=API_KEY, host=HOST) is None
