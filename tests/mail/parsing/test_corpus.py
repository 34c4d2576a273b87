"""Difficult messages, each with what it must become."""

from collections.abc import Callable

import pytest

from sealdesk.mail.parsing.message import parse, parse_strictly
from sealdesk.mail.parsing.types import Address, ParsedMessage
from tests.mail.parsing.charset_cases import charset_cases, lie_cases
from tests.mail.parsing.header_cases import header_cases
from tests.mail.parsing.messages import Case, content_of
from tests.mail.parsing.report_cases import report_cases
from tests.mail.parsing.structure_cases import structure_cases

CASES = [
    *charset_cases(), *lie_cases(), *header_cases(), *structure_cases(), *report_cases(),
]  # fmt: skip
_VIEWS: dict[str, Callable[[ParsedMessage], object]] = {
    "recipient": lambda parsed: parsed.delivery_status and parsed.delivery_status.recipient,
    "status": lambda parsed: parsed.delivery_status and parsed.delivery_status.status,
    "sender": lambda parsed: parsed.sender and (parsed.sender.address, parsed.sender.name),
    "names": lambda parsed: tuple(each.name for each in parsed.attachments),
    "types": lambda parsed: tuple(each.content_type for each in parsed.attachments),
    "contents": lambda parsed: tuple(map(content_of, parsed.attachments)),
    "content_ids": lambda parsed: tuple(each.content_id for each in parsed.attachments),
    "inline": lambda parsed: tuple(each.is_inline for each in parsed.attachments),
    "to": lambda parsed: _pairs(parsed.to),
    "cc": lambda parsed: _pairs(parsed.cc),
    "reply_to": lambda parsed: _pairs(parsed.reply_to),
}


def _pairs(addresses: tuple[Address, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((each.address, each.name) for each in addresses)


def _view(parsed: ParsedMessage, name: str) -> object:
    return _VIEWS[name](parsed) if name in _VIEWS else getattr(parsed, name)


def test_the_corpus_is_large() -> None:
    assert len({case.raw for case in CASES}) >= 900


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_message_is_understood(case: Case) -> None:
    parsed = parse_strictly(case.raw)
    expected = dict(case.expected)
    if "text_start" in expected:
        assert parsed.text.startswith(expected.pop("text_start"))
    assert {name: _view(parsed, name) for name in expected} == expected
    assert parse(case.raw) == parsed
