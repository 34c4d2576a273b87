"""Difficult messages, each with what it must become."""

from collections.abc import Callable

from sealdesk.mail.parsing.message import parse, parse_strictly
from sealdesk.mail.parsing.types import Address, ParsedMessage
from tests.mail.parsing.charset_cases import charset_cases, lie_cases, name_cases
from tests.mail.parsing.header_cases import header_cases
from tests.mail.parsing.messages import Case, content_of
from tests.mail.parsing.report_cases import report_cases
from tests.mail.parsing.structure_cases import structure_cases

CASES = [
    *charset_cases(),
    *lie_cases(),
    *name_cases(),
    *header_cases(),
    *structure_cases(),
    *report_cases(),
]
_VIEWS: dict[str, Callable[[ParsedMessage], object]] = {
    "recipient": lambda parsed: parsed.delivery_status and parsed.delivery_status.recipient,
    "action": lambda parsed: parsed.delivery_status and parsed.delivery_status.action,
    "original": lambda parsed: parsed.delivery_status and parsed.delivery_status.message_id,
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


def test_every_message_is_understood() -> None:
    assert {each.name: found for each in CASES if (found := _differences(each))} == {}


def _differences(case: Case) -> dict[str, object]:
    """What is understood otherwise than expected, by the name of the field."""
    parsed = parse_strictly(case.raw)
    found = {name: _view(parsed, name) for name in case.expected if name != "text_start"}
    wrong = {name: value for name, value in found.items() if value != case.expected[name]}
    if not parsed.text.startswith(str(case.expected.get("text_start", ""))):
        wrong["text_start"] = parsed.text
    return wrong if parse(case.raw) == parsed else wrong | {"parse": parse(case.raw)}
