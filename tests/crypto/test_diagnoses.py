"""Mistakes that developers make when they sign, each as their program makes it, and their names.

Of these requests no more than six may end without the name of their mistake.
"""

import base64
import hmac
import json
from collections.abc import Iterator
from hashlib import md5, sha256, sha512
from itertools import chain
from typing import NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealdesk.crypto.diagnosis import diagnose, forms
from sealdesk.crypto.diagnosis.serialisations import reserialised
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
PRETTY = json.dumps(VALUE, ensure_ascii=False, indent=2).encode()


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


def _of_the_parts() -> Iterator[Attempt]:
    timestamp, method, target, body = NEW
    digest = _digest(body)
    parts = (timestamp, method, target, digest)
    for program, name, text in (
        ("method: 'post'", "method_lowercase", timestamp + b"post" + target + digest),
        ("method: 'Post'", "method_lowercase", timestamp + b"Post" + target + digest),
        ("POST after a redirect", "method_differs", timestamp + b"GET" + target + digest),
        ("f'{timestamp}{method}{digest}'", "target_not_signed", timestamp + method + digest),
        ("f'{timestamp}{path}{digest}'", "method_not_signed", timestamp + target + digest),
        ("f'{method}{path}{digest}'", "timestamp_not_signed", method + target + digest),
        ("method first", "parts_in_another_order", method + target + timestamp + digest),
        ("as AWS does", "parts_in_another_order", b"\n".join((method, target, timestamp, digest))),
        (
            "as Stripe does",
            "parts_in_another_order",
            b".".join((timestamp, digest, method, target)),
        ),
        ("'\\n'.join", "newline_separators", b"\n".join(parts)),
        (
            "echo each part",
            "newline_separators",
            b"\n".join((timestamp, method, target, digest, b"")),
        ),
        ("'.'.join", "dot_separators", b".".join(parts)),
        ("':'.join", "other_separators", b":".join(parts)),
        ("'|'.join", "other_separators", b"|".join(parts)),
        ("echo $T $M $P $H", "other_separators", b" ".join(parts)),
        (
            "'\\n' in single quotes",
            "other_separators",
            b"\\n".join((timestamp, method, target, digest)),
        ),
        ("the clock is read twice", "timestamp_differs", b"1767225601" + method + target + digest),
        ("seconds * 1000 signed", "timestamp_differs", b"1767225600000" + method + target + digest),
        ("str(float(now)) signed", "timestamp_differs", b"1767225600.0" + method + target + digest),
        ("Date.now() signed", None, b"1767225600123" + method + target + digest),
        (
            "the Date header signed",
            None,
            b"Thu, 01 Jan 2026 00:00:00 GMT" + method + target + digest,
        ),
        ("echo $MESSAGE | openssl", "newline_appended", message(NEW) + b"\n"),
        ("content type signed", None, message(NEW) + b"application/json"),
    ):
        yield Attempt(program, name, NEW, _hmac(text))


def _of_the_target() -> Iterator[Attempt]:
    for program, name, sent, signed in (
        ("url.pathname", "query_string_not_signed", PATH + b"?" + QUERY, PATH),
        ("request.url + '?'", "trailing_question_mark", PATH, PATH + b"?"),
        ("sorted(params)", "query_sorted", PATH + b"?" + QUERY,
         PATH + b"?assignee=a&per_page=5&status=open"),
        ("params of a HashMap", "query_sorted", PATH + b"?" + QUERY,
         PATH + b"?per_page=5&status=open&assignee=a"),
        ("6 parameters sorted", "query_sorted", PATH + b"?f=1&e=2&d=3&c=4&b=5&a=6",
         PATH + b"?a=6&b=5&c=4&d=3&e=2&f=1"),
        ("urlencode, quote sent", "space_encoding_differs",
         PATH + b"?tag=a%20b", PATH + b"?tag=a+b"),
        ("quote, urlencode sent", "space_encoding_differs",
         PATH + b"?tag=a+b", PATH + b"?tag=a%20b"),
        ("%c3 signed", "percent_encoding_case", PATH + b"?q=%C3%A4", PATH + b"?q=%c3%a4"),
        ("%C3 signed", "percent_encoding_case", PATH + b"?q=%c3%a4", PATH + b"?q=%C3%A4"),
        ("unquote(path)", "target_percent_decoded", PATH + b"?q=%C3%A4%20b",
         unquote((PATH + b"?q=%C3%A4%20b").decode()).encode()),
        ("unquote_plus(path)", "target_percent_decoded", PATH + b"?q=%C3%A4+b",
         unquote_plus((PATH + b"?q=%C3%A4+b").decode()).encode()),
        ("commas sent as %2C", "target_percent_decoded", PATH + b"?status=open%2Cpending&q=%20",
         PATH + b"?status=open,pending&q=%20"),
        ("encodeURIComponent(query)", "target_percent_encoded", PATH + b"?status=open,pending",
         PATH + b"?status=open%2Cpending"),
        ("quote(url)", "target_percent_encoded", PATH + b"?status=open",
         quote((PATH + b"?status=open").decode()).encode()),
        ("quote_plus of values", "target_percent_encoded", PATH + b"?since=2026-01-01T00:00:00Z",
         PATH + b"?since=" + quote_plus("2026-01-01T00:00:00Z").encode()),
        ("encoded twice", "target_percent_encoded", PATH + b"?q=%C3%A4", PATH + b"?q=%25C3%25A4"),
        ("request.url, https", "full_url_signed", PATH, b"https://" + HOST + PATH),
        ("request.url, http", "full_url_signed", PATH, b"http://" + HOST + PATH),
        ("host + path", "host_signed", PATH, HOST + PATH),
        ("'//' + host + path", "host_signed", PATH, b"//" + HOST + PATH),
        ("path of the client's base", "api_prefix_missing", PATH, b"/tickets"),
        ("the proxy's prefix", "api_prefix_missing", b"/support" + PATH, PATH),
        ("path.lstrip('/')", "leading_slash_missing", PATH, PATH[1:]),
        ("'tickets'", "api_prefix_missing", PATH, b"tickets"),
        ("a slash at the end", "trailing_slash_differs", PATH, PATH + b"/"),
        ("another page signed", None, PATH + b"?page=2", PATH + b"?page=1"),
    ):  # fmt: skip
        parts = _get(sent)
        yield Attempt(program, name, parts, _hmac(message(parts._replace(target=signed))))


def _of_the_body() -> Iterator[Attempt]:
    crlf = PRETTY.replace(b"\n", b"\r\n")
    slashes = COMPACT.replace(b"/", b"\\/")
    jq = b'{\n  "a": [1, 2],\n  "b": {"c": "x  y"}\n}'
    for program, name, sent, hashed in (
        ("json= of requests, dumps hashed", "body_reserialised_default", COMPACT, DEFAULT),
        ("JSON.stringify hashed", "body_reserialised_compact", DEFAULT, COMPACT),
        ("JSON.stringify(v, null, 2)", "body_reserialised_pretty", COMPACT, PRETTY),
        ("indent=4", "body_reserialised_pretty", COMPACT, json.dumps(VALUE, indent=4).encode()),
        ("indent by tabs", "body_reserialised_pretty", COMPACT,
         json.dumps(VALUE, indent="\t", ensure_ascii=False).encode()),
        ("sort_keys=True", "body_reserialised_sorted", COMPACT,
         json.dumps(VALUE, sort_keys=True).encode()),
        ("json_encode hashed", "body_slashes_escaped", COMPACT, slashes),
        ("json_encode sent", "body_slashes_escaped", slashes, COMPACT),
        ("json_encode in ASCII", "body_slashes_escaped", COMPACT,
         json.dumps(VALUE, separators=(",", ":")).encode().replace(b"/", b"\\/")),
        ("encoding/json of Go", "body_reserialised_compact", COMPACT,
         COMPACT.replace(b"<", b"\\u003c").replace(b">", b"\\u003e")),
        ("Latin-1 hashed", "body_encoding_differs", COMPACT, COMPACT.decode().encode("latin-1")),
        ("Latin-1 sent", "body_encoding_differs", COMPACT.decode().encode("latin-1"), COMPACT),
        ("Encoding.Unicode", "body_encoding_differs", COMPACT,
         COMPACT.decode().encode("utf-16-le")),
        ("Encoding.ASCII", "body_encoding_differs", COMPACT,
         COMPACT.decode().encode("ascii", "replace")),
        ("a byte order mark sent", "body_encoding_differs", b"\xef\xbb\xbf" + COMPACT, COMPACT),
        ("$(cat f), --data-binary @f", "newline_not_signed", COMPACT + b"\n", COMPACT),
        ("the same, indented", "newline_not_signed", PRETTY + b"\n", PRETTY),
        ("sha256sum f, -d @f", "newline_appended", COMPACT, COMPACT + b"\n"),
        ("the same, indented", "newlines_not_sent", PRETTY.replace(b"\n", b""), PRETTY + b"\n"),
        ("$(cat f), -d @f, indented", "newlines_not_sent", PRETTY.replace(b"\n", b""), PRETTY),
        ("-d @f, lists on one line", "newlines_not_sent", jq.replace(b"\n", b""), jq + b"\n"),
        ("-d @f of Windows", "newlines_not_sent", PRETTY.replace(b"\n", b""), crlf + b"\r\n"),
        ("CR LF hashed", "line_ends_differ", PRETTY, crlf),
        ("LF hashed", "line_ends_differ", crlf, PRETTY),
        ("echo hashed", "newline_appended", COMPACT, COMPACT + b"\n"),
        ("JSON text passed as json=", "body_encoded_twice",
         json.dumps(COMPACT.decode()).encode(), COMPACT),
        ("JSON text stringified", "body_encoded_twice", b'{"a":"b"}',
         json.dumps('{"a":"b"}').encode()),
        ("'{}' hashed", "body_not_sent", b"", b"{}"),
        ("'null' hashed", "body_not_sent", b"", b"null"),
        ("a field renamed between", None, COMPACT, COMPACT.replace(b"subject", b"title")),
    ):  # fmt: skip
        yield Attempt(program, name, _post(sent), _hmac(message(_post(hashed))))
    start = AT + b"POST" + PATH
    raw = sha256(DEFAULT).digest()
    for program, name, ending in (
        ("the body itself", "body_not_hashed", DEFAULT),
        ("no body", "body_omitted", b""),
        ("the hash of ''", "body_omitted", _digest(b"")),
        ("Convert.ToHexString", "body_hash_uppercase", _digest(DEFAULT).upper()),
        ("digest()", "body_hash_not_hex", raw),
        ("BitConverter.ToString", "body_hash_not_hex", raw.hex("-").upper().encode()),
        ("digest('base64')", "body_hash_not_hex", base64.b64encode(raw)),
        ("digest('base64url')", "body_hash_not_hex", base64.urlsafe_b64encode(raw).rstrip(b"=")),
        (
            "md5",
            "body_hash_other_algorithm",
            md5(DEFAULT, usedforsecurity=False).hexdigest().encode(),
        ),
        ("sha512", "body_hash_other_algorithm", sha512(DEFAULT).hexdigest().encode()),
    ):
        yield Attempt(program, name, NEW, _hmac(start + ending))


def _of_the_secret() -> Iterator[Attempt]:
    for program, name, key in (
        ("bytes.fromhex", "secret_hex_decoded", bytes.fromhex(API_SECRET)),
        ("Buffer.from(s, 'base64')", "secret_base64_decoded", base64.b64decode(API_SECRET)),
        ("the API key", "signed_with_api_key", API_KEY.encode()),
        (".upper()", "secret_uppercase", SECRET.upper()),
        ("quotes of an .env file", "secret_quoted", b'"' + SECRET + b'"'),
        ("single quotes", "secret_quoted", b"'" + SECRET + b"'"),
        ("str(b'…')", "secret_quoted", b"b'" + SECRET + b"'"),
        ("a space pasted", "secret_quoted", SECRET + b" "),
        ("open(f).read()", "newline_appended", SECRET + b"\n"),
        ("a CR of Windows", "secret_quoted", SECRET + b"\r"),
        ("a line of an .env file", "secret_quoted", b"SEALDESK_API_SECRET=" + SECRET),
        ("a list pasted", "secret_quoted", SECRET + b";"),
        ("a space that nobody sees", "secret_quoted", "\u200b".encode() + SECRET),
        ("a placeholder filled in", "secret_quoted", b"<" + SECRET + b">"),
        ("a line end as text", "secret_quoted", SECRET + b"\\n"),
        ("the last character missing", "secret_cut_off", SECRET[:-1]),
        ("the first three missing", "secret_cut_off", SECRET[3:]),
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


ATTEMPTS = [*chain(_of_the_parts(), _of_the_target(), _of_the_body(), _of_the_secret())]


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


def test_at_most_six_of_over_eighty_mistakes_are_not_named() -> None:
    assert len(ATTEMPTS) >= 80
    assert len([each for each in ATTEMPTS if each.name is None]) <= 6


def test_every_name_is_found_by_an_attempt() -> None:
    by_the_guard = {f"secret_of_{owner}" for owner in ("another_key", "test_key", "webhook")}
    by_the_guard |= {"unknown"}
    # Where the client sends what it has signed: tests/crypto/test_signed_message.
    by_the_guard |= {"target_differs", "body_differs", "other_text_signed"}
    by_the_guard |= {
        "signed_message_old",
        "signed_message_malformed",
        "secret_or_algorithm_differs",
    }
    named = {each.name for each in ATTEMPTS if each.name}
    by_signature = {name for name in DIAGNOSES if MISTAKES[name].code == "invalid_signature"}
    assert named | by_the_guard == by_signature


@for_each(
    ("signature", "name"),
    [
        ("ab" * 32, None), ("AB" * 32, "uppercase_hex"),
        (f"sha256={'ab' * 32}", "signature_prefixed"),
        (f"(stdin)={'ab' * 32}", "signature_prefixed"), (f"v1,{'AB' * 32}", "signature_prefixed"),
        (base64.b64encode(bytes(32)).decode(), "signature_base64"),
        (base64.urlsafe_b64encode(b"\xff" * 32).decode().rstrip("="), "signature_base64"),
        ("ab" * 64, "signature_other_algorithm"),
        ("ab" * 20, "signature_other_algorithm"),
        (f'"{"ab" * 32}"', "signature_not_hex"), ("ab" * 31, "signature_not_hex"),
    ],
)  # fmt: skip
def test_the_form_of_a_signature_is_named(signature: str, name: str | None) -> None:
    assert forms.find_signature_mistake(signature) == name


def test_a_secret_is_never_guessed_character_by_character() -> None:
    """A shorter prefix has no name, so each answer needs 60 right characters."""
    for length in range(1, 60):
        for key in (SECRET[:length], SECRET[-length:], SECRET[:length] + b"0" * (64 - length)):
            attempt = Attempt("", None, LIST, _hmac(SIGNED, key))
            assert _found(attempt) is None
    # A right beginning and a wrong end of the same length is no variant either.
    assert _found(Attempt("", None, LIST, _hmac(SIGNED, SECRET[:63] + b"x"))) is None


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


def test_deep_and_long_bodies_stay_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the clock: no serialisation of a body is larger than a few times the body."""
    sizes_bytes, format_json = list[int](), msgspec.json.format

    def count(document: bytes, indent: int) -> bytes:
        sizes_bytes.append(len(made := format_json(document, indent=indent)))
        return made

    monkeypatch.setattr(msgspec.json, "format", count)
    for depth in (7, 30):
        item = b"[" * depth + '{"ä":-0.0001}'.encode() + b"]" * depth
        [*reserialised(b"[" + b",".join([item] * (5000 // len(item))) + b"]")]
        assert sum(sizes_bytes) < 100_000
        sizes_bytes.clear()
    for body in (b"[" * 32 + b"1," * 3900 + b"1" + b"]" * 32, b"[" * 900 + b"]" * 900):
        sizes = [len(other) for _, other in reserialised(body)]
        assert sum(sizes) < 2_000_000
    assert len([*reserialised(b'["' + b"a" * 20_000 + b'"]')]) == 2
    forms = [other for _, other in reserialised(b'{"a": 1, "b": "\xc3\xbc"}')]
    assert len(forms) == len({*forms})
