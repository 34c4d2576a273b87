"""When a position is stored, who reads a folder, and in which order messages are taken."""

import asyncio
import shutil
from typing import Any

import pytest

from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.store.directory import Place
from sealdesk.mail.reading.connections import Connections
from sealdesk.mail.reading.reader import Limits, MailboxReader
from sealdesk.mail.receiving import arrivals
from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.state import AppState
from tests.mail.reading.support import Desk, Folders, Reading, reading
from tests.mail.support import message
from tests.support.databases import SQLITE_FIRST
from tests.support.service import wait_until

_SET_LEASE = """
UPDATE mailbox_directory SET leased_by = 'another process', leased_until = :until
WHERE mailbox_id = :id
"""
_take = arrivals.receive


def lease(desk: Desk, until: int) -> None:
    """As another process does that reads the folder."""
    params = {"until": until, "id": desk.mailbox.id}
    desk.service.write(lambda tx: tx.execute(_SET_LEASE, params))


def put_many(desk: Desk, count: int) -> list[str]:
    """Messages of as many people; their subjects."""
    subjects = [f"Number {number}" for number in range(count)]
    for number, subject in enumerate(subjects):
        desk.put(message(subject=subject, sender=f"ann{number}@example.test"))
    return subjects


def test_the_position_is_stored_after_the_message_is_taken(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored_at = list[int]()

    async def take_slowly(state: AppState, mailbox: Any, arrival: Any) -> Any:
        taken = await _take(state, mailbox, arrival)
        found = await state.database.read(
            lambda tx: mailboxes.get_mailbox(tx, mailbox.tenant_id, mailbox.id), mailbox.tenant_id
        )
        stored_at.append(found.last_uid or 0)
        return taken

    monkeypatch.setattr(arrivals, "receive", take_slowly)
    desk = folders.desk()
    with reading(folders.service):
        for number in range(1, 4):
            desk.put(message(subject=f"Number {number}"))
            wait_until(lambda at=number: desk.stored().last_uid == at)  # type: ignore[misc]
    assert stored_at == [0, 1, 2]


def test_a_message_that_could_not_be_stored_is_read_again(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealdesk.mail.reading.reader._AFTER_FAULT_S", 0.05)
    attempts = list[bytes]()

    async def fail_twice(state: AppState, mailbox: Any, arrival: Any) -> Any:
        attempts.append(arrival.raw)
        if b"Subject: Second" in arrival.raw and len(attempts) < 4:
            raise ServiceUnavailable
        return await _take(state, mailbox, arrival)

    monkeypatch.setattr(arrivals, "receive", fail_twice)
    desk = folders.desk()
    with reading(folders.service):
        desk.put(message(subject="First"))
        wait_until(lambda: desk.stored().last_uid == 1)
        for subject in ("Second", "Third"):
            desk.put(message(subject=subject))
        desk.wait_for("First", "Second", "Third")
    assert len(attempts) >= 5
    assert len(desk.messages()) == 3


def test_a_folder_that_another_process_has_leased_is_not_read(folders: Folders) -> None:
    desk, other = folders.desk(), folders.desk()
    lease(desk, 2**62)
    with reading(folders.service) as running:
        for each in (desk, other):
            each.put(message(subject="Hello"))
        other.wait_for("Hello")
        assert (running.reads(desk), running.reads(other)) == (False, True)
        assert desk.messages() == []
        lease(desk, 0)
        desk.wait_for("Hello")


def test_two_readers_of_one_folder_take_each_message_once(folders: Folders) -> None:
    """As when a process goes on whose lease has ended, since it was suspended."""
    desk = folders.desk()
    subjects = put_many(desk, 40)
    place = Place(desk.tenant.id, desk.mailbox.id)

    async def begin(state: AppState) -> list[asyncio.Task[None]]:
        limits = Limits(Connections(2), ByteBudget(2**28))
        readers = [MailboxReader(state, place, limits) for _ in range(2)]
        return [asyncio.create_task(each.run()) for each in readers]

    tasks = folders.service.in_serving(begin)

    async def end(_: AppState) -> None:
        for each in tasks:
            each.cancel()
        await asyncio.wait(tasks)

    try:
        desk.wait_for(*subjects)
        desk.wait_until_read()
    finally:
        folders.service.in_serving(end)
    assert sorted(desk.subjects()) == sorted(subjects)
    assert len(desk.messages()) == len(subjects)


def test_a_folder_that_is_removed_while_it_is_read_is_missing_until_it_is_there(
    folders: Folders, reader: Reading
) -> None:
    desk = folders.desk(imap_folder="Support")
    desk.put(message(subject="Before"), "Support")
    desk.wait_for("Before")
    wait_until(lambda: desk.stored().last_uid == 1)
    place = folders.dovecot.folder(desk.address, "Support")
    while place.exists():  # its session may still write
        shutil.rmtree(place, ignore_errors=True)
    desk.wait_for_problem("folder_missing")
    desk.put(message(subject="After"), "Support")
    desk.wait_for("Before", "After")
    desk.wait_for_problem(None)


@SQLITE_FIRST
@pytest.mark.prove
def test_a_mailbox_with_1000_messages_delays_no_other_mailbox(folders: Folders) -> None:
    large, other = folders.desk(), folders.desk()
    put_many(large, 1000)
    with reading(folders.service):
        wait_until(lambda: bool(large.messages()))
        other.put(message(subject="Elsewhere"))
        other.wait_for("Elsewhere")
        assert 0 < len(large.messages()) < 1000
