"""Messages that are made to take time or memory, or to make a parser fail."""

import base64
import quopri
import sys
import time
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sealdesk.mail.parsing.content import MAX_FILES, MAX_TEXT_LENGTH
from sealdesk.mail.parsing.message import MAX_SUBJECT_LENGTH, parse, parse_strictly
from sealdesk.mail.parsing.types import Fault, ParsedMessage
from sealdesk.tickets.attachments.rules import fault_of_name
from sealdesk.tickets.text.quotes import fold
from tests.mail.parsing.messages import HEADER, content_of
from tests.mail.parsing.test_corpus import CASES

_MIB = 1024 * 1024
_HTML = HEADER + b"Content-Type: text/html\r\n\r\n"
_MIXED = HEADER + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
_REPEATED: dict[str, tuple[bytes, bytes]] = {
    "nested elements": (_HTML, b"<div>"),
    "nested tables": (_HTML, b"<table><tr><td>"),
    "nested lists": (_HTML, b"<ul><li>"),
    "nested quotes": (_HTML, b"<blockquote>a"),
    "quotes without end": (_HTML, b'<a ">" '),
    "comments without end": (_HTML, b"<!--"),
    "elements without end": (_HTML, b"<a"),
    "links without end": (_HTML, b"<a href='https://x.example'>"),
    "comments within a link": (_HTML + b"<a href=http://x>", b"\xad<!>"),
    "hidden elements without end": (_HTML, b"<div style='display:none'>"),
    "attributes": (_HTML + b"<img ", b"a=1 "),
    "enriched text": (HEADER + b"Content-Type: text/enriched\r\n\r\n", b"<param>\n\n<nofill>"),
    "character references": (_HTML, b"&amp;&#65;"),
    "parts": (_MIXED, b"--b\r\n\r\nx\r\n"),
    "parts without end of line": (_MIXED, b"\n--bx"),
    "multiparts in each other": (_MIXED, _MIXED.replace(HEADER, b"--b\r\n")),
    "header lines": (HEADER, b"Received: x\r\n"),
    "lines that are no fields": (HEADER, b"junk\r\nX-A: b\r\n"),
    "signed data": (HEADER + b"Content-Type: application/pkcs7-mime\r\n\r\n", b"\x24\x80\x04\0"),
    "folded lines": (b"To: ", b"a@b.example,\r\n "),
    "angle brackets": (b"To: ", b"<@,"),
    "comments": (b"To: ", b"("),
    "quoted strings": (b"To: ", b'"\\'),
    "encoded words": (b"Subject: ", b"=?utf-8?q?a?= "),
    "encoded words without end": (b"Subject: ", b"=?a?q?"),
    "ids": (b"References: ", b"<a@b> "),
    "parameters": (HEADER + b"Content-Type: text/plain;", b' a="b;'),
    "begin": (HEADER + b"\r\n", b"begin 644 a\r\n"),
    "padding": (HEADER + b"Content-Type: a/b\r\nContent-Transfer-Encoding: base64\r\n\r\n", b"a="),
    "blank lines": (b"", b"\r\n"),
    "escapes": (HEADER + b"Content-Type: text/plain; charset=iso-2022-jp\r\n\r\n", b"\x1b$B"),
}


def _repeated(name: str, size: int) -> bytes:
    begin, repeated = _REPEATED[name]
    return begin + repeated * (size // len(repeated))


def _time_s(raw: bytes) -> float:
    began = time.thread_time()
    _read(raw)
    return time.thread_time() - began


def _read(raw: bytes) -> None:
    """Parse a message, and fold its quotes as its page does."""
    fold(parse_strictly(raw).text)


def _count_calls(read: Callable[[], object]) -> int:
    """How many functions are called, those of C among them."""
    events: list[str] = []
    sys.setprofile(lambda _, event, __: events.append(event))
    try:
        read()
    finally:
        sys.setprofile(None)
    return events.count("call") + events.count("c_call")


def test_the_work_for_a_message_grows_with_its_size() -> None:
    def growth(name: str) -> float:
        small, large = _repeated(name, 2_500), _repeated(name, 20_000)
        return _count_calls(lambda: _read(large)) / _count_calls(lambda: _read(small))

    # Eight times the size takes eight times the calls, or 64 times if it is quadratic.
    assert {name: found for name in _REPEATED if (found := growth(name)) > 12} == {}


_LINES = (
    "> a\n", "> " * 40 + "a\n", "\n", "-- \n", "On Mon, 5 Jan 2026 at 10:00, Ann wrote:\n",
    "On Mon, 5 Jan 2026,\n", "From: a@b.example\nSent: 5.1.2026\nTo: c@d.example\n", "a: b\n",
    "-----Original Message-----\n", "_" * 32 + "\n", "a@b.example 12\n", "a@b.example 12\n> x\n",
    "Am 5.1.2026 schrieb\n", "wrote:\n", "a\u200b", "> \n> From: x\n", "a" * 70 + "\n", "* a\n",
    "D> a\n\n", "Bo Lee wrote:\n\n| a\n", "Reply above this line" * 4 + "\n",
    "\nAnn <a@b.example>\n24/11/2026 09:14\nTo\n", "a ---24/11/2026 09:14\n",
)  # fmt: skip


def test_the_work_to_fold_quotes_grows_with_the_text() -> None:
    def growth(line: str) -> float:
        small, large = (line * (size // len(line)) for size in (2_500, 20_000))
        return _count_calls(lambda: fold(large)) / _count_calls(lambda: fold(small))

    assert {line: found for line in _LINES if (found := growth(line)) > 12} == {}


@pytest.mark.prove
def test_the_time_to_fold_quotes_grows_with_the_text() -> None:
    def time_s(text: str) -> float:
        began = time.thread_time()
        fold(text)
        return time.thread_time() - began

    def growth(line: str) -> float:
        small, large = (line * (size // len(line)) for size in (8_000, 64_000))
        return min(time_s(large), time_s(large)) / max(min(time_s(small), time_s(small)), 0.001)

    assert {line: found for line in _LINES if (found := growth(line)) > 30} == {}


@pytest.mark.prove
def test_the_time_of_a_message_grows_with_its_size() -> None:
    def growth(name: str) -> float:
        small, large = _repeated(name, 20_000), _repeated(name, 160_000)
        return min(_time_s(large), _time_s(large)) / max(min(_time_s(small), _time_s(small)), 0.001)

    assert {name: found for name in _REPEATED if (found := growth(name)) > 30} == {}


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("base64", base64.encodebytes),
        ("quoted-printable", quopri.encodestring),
        ("quoted-printable", lambda data: quopri.encodestring(data).replace(b"=\n", b"")),
        ("binary", bytes),
    ],
)
def test_a_large_file_needs_no_memory_beside_its_message(
    encoding: str, encode: Callable[[bytes], bytes]
) -> None:
    data = bytes(set(range(256)) - set(b"\r\n")) * (4 * _MIB // 256)
    header = HEADER + b"Content-Type: image/png\r\nContent-Transfer-Encoding: %b\r\n\r\n"
    raw = header % encoding.encode() + encode(data)
    tracemalloc.start()
    try:
        parsed = parse_strictly(raw)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert content_of(parsed.attachments[0]) == data
    assert peak < 2 * _MIB


def _assert_is_bounded(parsed: ParsedMessage) -> None:
    assert len(parsed.text) <= MAX_TEXT_LENGTH
    assert len(parsed.subject) <= MAX_SUBJECT_LENGTH
    assert len(parsed.attachments) <= MAX_FILES
    people = (*parsed.to, *parsed.cc, *parsed.reply_to, *([parsed.sender] if parsed.sender else []))
    assert all(len(each.name) <= 255 and len(each.address) <= 320 for each in people)
    for line in (parsed.subject, *(text for each in people for text in (each.address, each.name))):
        assert line.isprintable() or not {"\r", "\n", "\0"} & set(line)
        line.encode()
    assert [
        fault_of_name(each.name) for each in parsed.attachments if fault_of_name(each.name)
    ] == []
    assert "\0" not in parsed.text
    assert "\r" not in parsed.text
    parsed.text.encode()


_WORDS = st.sampled_from([
    b"From: ", b"To: ", b"Subject: ", b"Content-Type: ", b"multipart/mixed; boundary=b",
    b"multipart/alternative; boundary=c", b"multipart/report; boundary=b", b"--b", b"--b--",
    b"--c", b"text/plain", b"text/html", b"message/rfc822", b"message/delivery-status",
    b"; charset=", b"utf-8", b"utf-7", b"utf-16", b"iso-2022-jp", b"gb2312", b"hz", b"foo",
    b"; name*0*=", b"; filename*=", b"utf-8''%00", b"Content-Transfer-Encoding: ", b"base64",
    b"quoted-printable", b"x-uuencode", b"begin 644 a", b"end", b"=?utf-8?q?", b"=?utf-8?b?",
    b"?=", b"=0D=0A", b"<a@b.c>", b"<", b">", b'"', b"(", b")", b",", b":", b";", b"\\", b"=",
    b"=\r\n", b"\r\n", b"\n", b"\r", b"\r\n\r\n", b" ", b"\t", b"\x00", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\x1b$B", b"~{", b"+2D3-", b"<p>", b"</p>", b"<a href=x>", b"<!--",
    b"&#x110000;", b"&#99999999999;", b"Action: failed", b"Content-Disposition: attachment",
    b"; format=flowed", b"> ", b"-- ", b"\xc3", b"\xa4", b"a", b"M", b"Content-ID: <x>",
])  # fmt: skip


@given(st.lists(_WORDS | st.binary(max_size=5), max_size=60).map(b"".join))
@example(b"")
def test_no_bytes_make_the_parser_fail(raw: bytes) -> None:
    parsed = parse_strictly(raw)
    _assert_is_bounded(parsed)
    assert parse_strictly(raw) == parsed


@given(st.sampled_from(CASES), st.data())
def test_a_damaged_message_is_still_read(case: object, data: st.DataObject) -> None:
    raw = case.raw[:20_000]  # type: ignore[attr-defined]
    at = data.draw(st.integers(0, len(raw)))
    until = data.draw(st.integers(at, min(len(raw), at + 50)))
    inserted = data.draw(st.binary(max_size=4))
    _assert_is_bounded(parse_strictly(raw[:at] + inserted + raw[until:]))


def test_a_mistake_of_the_parser_does_not_lose_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sealdesk.mail.parsing.message.Structure", None)
    parsed = parse(HEADER + b"\r\ntext")
    assert parsed.faults == (Fault.UNEXPECTED,)
    assert parsed.text.endswith("text")
    assert parsed.is_truncated
