"""A message that was signed is compared with what was received, part by part."""

import base64
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealdesk.crypto import diagnosis
from sealdesk.crypto.diagnosis import name_difference, signed_message
from sealdesk.crypto.diagnosis.signed_message import Difference, first_difference
from sealdesk.crypto.signing import Signed, body_sha256, head, message
from tests.support.for_each import for_each
from tests.vectors import API_SECRET

AT, TARGET, BODY = (
    b"1767225600",
    b"/api/v1/external/tickets?status=open&a=1&c=%C3%A9&b=3&e=5&d=4",
    b'{"subject":"S"}',
)
QUERY = TARGET.removeprefix(b"/api/v1/external/tickets")
SENT = Signed(AT, b"POST", TARGET, BODY)
DIGEST = body_sha256(BODY)
RIGHT = message(SENT)
HASH = b"ab" * 32


def different(text: bytes) -> tuple[str, str]:
    found = first_difference(text, SENT, DIGEST)
    assert found.received != found.signed
    return found.part, found.signed


@for_each(
    ("text", "part", "signed"),
    [
        (RIGHT.replace(AT, b"1767225600123"), "timestamp", "1767225600123"),
        (RIGHT.replace(AT, b""), "timestamp", ""),
        (b"\n".join((AT, b"POST", TARGET, DIGEST)), "timestamp", "1767225600\n"),
        (RIGHT.replace(b"POST", b"GET"), "method", "GET"),
        (RIGHT.replace(b"POST", b""), "method", ""),
        (RIGHT.replace(QUERY, b""), "request_target", "/api/v1/external/tickets"),
        (RIGHT.replace(TARGET, b""), "request_target", ""),
        (RIGHT.replace(TARGET, b"/\xfc"), "request_target", "/ü"),
        (AT + b"POST/other", "request_target", "/other"),
        (RIGHT.replace(DIGEST, HASH), "body_sha256", HASH.decode()),
        (RIGHT.replace(DIGEST, BODY), "body_sha256", BODY.decode()),
        (RIGHT.replace(DIGEST, b""), "body_sha256", ""),
        (RIGHT + b"application/json", "body_sha256", f"{DIGEST.decode()}application/json"),
    ],
)
def test_the_first_part_that_differs_is_shown(text: bytes, part: str, signed: str) -> None:
    assert different(text) == (part, signed)


@given(st.binary(max_size=200))
def test_every_other_message_has_a_difference(text: bytes) -> None:
    if text != RIGHT:
        different(text)


@for_each(
    ("text", "name"),
    [
        (RIGHT.replace(AT, b"1767225600123"), "timestamp_differs"),
        (AT + b"GET" + TARGET + DIGEST, "method_differs"),
        (AT + b"BREW" + TARGET + DIGEST, "method_differs"),
        (AT + b"POST" + DIGEST, "target_not_signed"),
        (AT + b"POST/v1/external/tickets" + DIGEST, "target_differs"),
        (AT + b"POST" + TARGET + HASH, "body_differs"),
        (AT + b"POST" + TARGET + BODY, "body_not_hashed"),
        (RIGHT + b"application/json", "other_text_signed"),
        (AT + b"POST" + TARGET + b"application/json" + DIGEST, "other_text_signed"),
        (b"tk_live_0" + RIGHT, "other_text_signed"),
        (RIGHT.replace(TARGET, b"https://other.test" + TARGET), "full_url_signed"),
        (RIGHT.replace(TARGET, b"https://other.test" + TARGET[:-1]), "target_differs"),
        (RIGHT.replace(b"%C3%A9", b"%c3%A9"), "percent_encoding_case"),
        (RIGHT.replace(b"e=5&d=4", b"d=4&e=5"), "query_sorted"),
        (b"#".join((AT, b"POST", TARGET, DIGEST)), "other_separators"),
        (b" ~ ".join((AT, b"POST", TARGET, DIGEST, b"")), "other_separators"),
        (b"|".join((b"POST", TARGET, AT, DIGEST)), "parts_in_another_order"),
        (b":".join((AT, b"POST", TARGET, DIGEST)), "other_separators"),
    ],
)
def test_the_mistake_has_its_usual_name_or_that_of_its_part(text: bytes, name: str) -> None:
    difference = first_difference(text, SENT, DIGEST)
    found = name_difference(text, SENT, difference, secret=API_SECRET, host=b"desk.test")
    assert found == name


def test_a_large_request_is_compared_part_by_part_only() -> None:
    sent = Signed(AT, b"POST", TARGET, bytes(64 * 1024 + 1))
    found = name_difference(
        AT, sent, Difference("body_sha256", "", ""), secret=API_SECRET, host=b""
    )
    assert found == "body_differs"


@for_each(
    ("text", "is_recent"),
    [
        (b"1767225600GET/", True),
        (b"1767225600123GET/", True),
        (b"GET/?at=1767225600", True),
        (b"1767225600123456GET/", True),
        (b"1767225600123456789GET/", True),
        (b"2026-01-01T00:00:00ZGET/", True),
        (b"2026-01-01T02:00:00.123+02:00GET/", True),
        (b"2026-01-01 00:04:59GET/", True),
        (b"2025-12-31T00:00:00ZGET/", False),
        (b"2026-00-01T00:00:00ZGET/", False),
        (b"tk_live_17672256001767225600GET/", True),
        (b"1767225299GET/1767225600GET/", False),
        (b"1767225301GET/", True),
        (b"1767225299GET/", False),
        (b"1767225901GET/", False),
        (b"1767225299GET/?at=1767225600", False),
        (b"17672252991GET/", False),
        (b"17672256009f8ePOST/", True),
        (b"x17672256001GET/", False),
        (b"GET/", False),
    ],
)
def test_the_first_time_in_a_message_tells_whether_it_is_recent(
    text: bytes, is_recent: bool
) -> None:
    assert signed_message.is_recent(text, 1767225600, 300) == is_recent


@for_each(
    ("header", "text"),
    [
        (base64.b64encode(RIGHT), RIGHT),
        (base64.b64encode(bytes(4096)), bytes(4096)),
        (base64.b64encode(bytes(4097)), None),
        (base64.b64encode(b"\0"), b"\0"),
        (b"", None),
        (b"not base64", None),
        (b"\xff\xff", None),
        (base64.b64encode(RIGHT).rstrip(b"=")[:-1], None),
    ],
)
def test_a_header_is_base64_of_at_most_4_kib(header: bytes, text: bytes | None) -> None:
    assert signed_message.decode(header) == text


def test_of_other_bodies_64_kib_are_made_at_most_the_frequent_ones_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[bytes] = []
    every_body = diagnosis.bodies.wrong_bodies

    def other_bodies(body: bytes) -> Iterator[tuple[str, bytes]]:
        for name, other in every_body(body):
            made.append(other)
            yield name, other

    monkeypatch.setattr(diagnosis.bodies, "wrong_bodies", other_bodies)
    item = {"key": "Größe / <1>", "number": 1.5}
    for count in (1, 100, 1000):
        value = {f"key{n}": item for n in range(count)}
        sent = SENT._replace(body=json.dumps(value).encode())
        made.clear()
        signed = head(sent) + HASH
        difference = first_difference(signed, sent, body_sha256(sent.body))
        found = name_difference(signed, sent, difference, secret=API_SECRET, host=b"")
        assert found == "body_differs"
        assert sum(map(len, made[:-1])) <= 64 * 1024
        compact = json.dumps(value, separators=(",", ":")).encode()
        assert compact in made or count == 1000


def test_other_bodies_are_not_made_where_more_than_the_body_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[bytes] = []

    def other_bodies(body: bytes) -> list[tuple[str, bytes]]:
        tried.append(body)
        return []

    monkeypatch.setattr(diagnosis.bodies, "wrong_bodies", other_bodies)
    for text, count in ((RIGHT.replace(AT, b"1767225777"), 0), (RIGHT.replace(DIGEST, HASH), 1)):
        difference = first_difference(text, SENT, DIGEST)
        name_difference(text, SENT, difference, secret=API_SECRET, host=b"desk.test")
        assert len(tried) == count
