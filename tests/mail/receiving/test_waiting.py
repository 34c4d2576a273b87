"""How much may wait for a person: what is beyond it is refused, and nothing is stored of it."""

import smtplib
from collections.abc import Iterator

import pytest

from sealdesk.mail.receiving import actions, raw_messages, rules
from sealdesk.mail.receiving.types import Waiting
from tests.mail.support import Desk, Receiver, message, receiving, with_files
from tests.support.service import Service

MIB = 2**20
SPAM = {"X_Spam_Flag": "YES"}


@pytest.fixture
def receiver(service: Service) -> Iterator[Receiver]:
    with receiving(service, waiting_bytes=8 * MIB) as started:
        yield started


@pytest.fixture
def desk(receiver: Receiver) -> Desk:
    return Desk(receiver)


def spam(number: int, sender: str = "eve@evil.test", size: int = 600_000) -> bytes:
    return with_files((("x.bin", bytes(size * 3 // 4)),), f"{number}", sender=sender, **SPAM)


def refusal(desk: Desk, raw: bytes) -> int:
    with pytest.raises(smtplib.SMTPResponseException) as refused:
        desk.get_mail(raw)
    return refused.value.smtp_code


def test_a_sender_cannot_fill_the_storage_with_what_waits(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.get_mail(spam(1))
    keep, stored = raw_messages.keep, list[int]()

    async def counted(*arguments: object) -> object:
        stored.append(1)
        return await keep(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(raw_messages, "keep", counted)
    assert refusal(desk, spam(2)) == 452
    assert stored == [] and desk.outcomes() == ["spam"]
    exposition = desk.receiver.service.state.metrics.exposition().decode()
    assert 'sealdesk_mail_refused_total{reason="waiting_full"}' in exposition
    desk.get_mail(spam(3, "bo@other.test"))
    desk.get_mail(message("A ticket.", sender="eve@evil.test"))
    assert desk.outcomes() == ["spam", "spam", "ticket"]
    desk.release()
    desk.get_mail(spam(4))
    assert desk.outcomes() == ["ticket", "spam", "ticket", "spam"]


def test_all_senders_together_have_a_bound_too(desk: Desk) -> None:
    for number in range(13):
        desk.get_mail(spam(number, f"eve{number}@evil.test"))
    assert refusal(desk, spam(14, "last@evil.test")) == 452
    assert len(desk.outcomes()) == 13
    Desk(desk.receiver).get_mail(spam(15))


def test_small_messages_are_counted_in_the_transaction(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_WAITING_OF_SENDER", 2)
    for number in range(2):
        desk.get_mail(message(f"{number}", **SPAM))
    assert refusal(desk, message("3", **SPAM)) == 452
    assert desk.outcomes() == ["spam", "spam"]


def test_a_message_that_cannot_be_processed_needs_room_as_well(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    desk.get_mail(spam(1))
    monkeypatch.setattr(actions, "read_case", fail)
    assert refusal(desk, spam(2)) == 452


def test_the_bounds_are_exact() -> None:
    none = Waiting(0, 0)
    assert rules.has_room(10, 80, of_tenant=none, of_sender=none)
    assert not rules.has_room(11, 80, of_tenant=none, of_sender=none)
    assert rules.has_room(10, 80, of_tenant=Waiting(19_999, 70), of_sender=none)
    assert not rules.has_room(10, 80, of_tenant=Waiting(1, 71), of_sender=none)
    assert not rules.has_room(10, 80, of_tenant=Waiting(20_000, 0), of_sender=none)
    assert not rules.has_room(10, 80, of_tenant=none, of_sender=Waiting(1, 1))
