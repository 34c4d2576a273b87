"""A message that was signed is compared with what was received, part by part."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from sealdesk.crypto.diagnosis import name_difference, signed_message
from sealdesk.crypto.diagnosis.signed_message import Difference, first_difference
from sealdesk.crypto.signing import Signed, body_sha256, message
from tests.support.for_each import for_each

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
        (RIGHT.replace(b"POST", b""), "method_differs"),
        (RIGHT.replace(DIGEST, DIGEST.upper()), "body_differs"),
        (AT + b"BREW" + TARGET + DIGEST, "method_differs"),
        (AT + b"POST" + DIGEST, "target_not_signed"),
        (AT + b"POST/v1/external/tickets" + DIGEST, "target_differs"),
        (AT + b"POST" + TARGET + HASH, "body_differs"),
        (AT + b"POST" + TARGET + BODY, "body_not_hashed"),
        (RIGHT + b"application/json", "other_text_signed"),
        (AT + b"POST" + TARGET + b"application/json" + DIGEST, "other_text_signed"),
        (b"tk_live_0" + RIGHT, "other_text_signed"),
        (RIGHT.replace(TARGET, b"https://desk.test" + TARGET), "full_url_signed"),
        (RIGHT.replace(TARGET, b"https://other.test" + TARGET), "target_differs"),
        (b"#".join((AT, b"POST", TARGET, DIGEST)), "other_separators"),
        (b" ~ ".join((AT, b"POST", TARGET, DIGEST, b"")), "other_separators"),
        (b"|".join((b"POST", TARGET, AT, DIGEST)), "parts_in_another_order"),
        (b":".join((AT, b"POST", TARGET, DIGEST)), "other_separators"),
    ],
)
def test_the_mistake_has_its_usual_name_or_that_of_its_part(text: bytes, name: str) -> None:
    difference = first_difference(text, SENT, DIGEST)
    found = name_difference(text, SENT, difference, b"desk.test")
    assert found == name


def test_a_large_request_is_compared_part_by_part_only() -> None:
    sent = Signed(AT, b"POST", TARGET, bytes(64 * 1024 + 1))
    found = name_difference(AT, sent, Difference("body_sha256", "", ""), b"")
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
