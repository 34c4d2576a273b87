"""Messages in the folder of a mailbox become tickets, each once."""

import time
from datetime import UTC, datetime

import pytest

from sealdesk import clock
from sealdesk.mail.receiving import raw_messages
from sealdesk.mail.receiving import rules as receiving
from tests.mail.reading.support import Folders, Reading, reading
from tests.mail.support import message, with_files
from tests.support.databases import SQLITE_FIRST
from tests.support.pages import logged_in
from tests.support.service import wait_until

_HOUR_S = 3600


def test_each_message_in_the_folder_becomes_a_ticket(folders: Folders, reader: Reading) -> None:
    desk = folders.desk()
    desk.put(message(subject="A broken bowl"))
    desk.wait_for("A broken bowl")
    desk.put(message(subject="Another bowl"))
    desk.wait_for("A broken bowl", "Another bowl")


def test_a_folder_is_read_over_starttls_and_by_its_name(folders: Folders, reader: Reading) -> None:
    port = folders.dovecot.port
    desk = folders.desk(imap_security="starttls", imap_port=port, imap_folder="Köln & Bonn")
    desk.put(message(subject="Over STARTTLS"), "K&APY-ln &- Bonn")
    desk.wait_for("Over STARTTLS")


def test_messages_from_before_the_mailbox_stay_in_the_folder(
    folders: Folders, reader: Reading
) -> None:
    desk = folders.desk(is_paused=True)
    desk.put(message(subject="Old"), arrived_at=int(time.time()) - _HOUR_S)
    now = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S %z")
    desk.put(message(subject="By a server in 1970", Date=now), arrived_at=60)
    desk.put(message(subject="By a sender in 1970", Date="Thu, 1 Jan 1970 00:00:00 +0000"))
    desk.change(is_paused=False)
    desk.wait_for("By a server in 1970", "By a sender in 1970")


def test_messages_of_a_pause_are_taken_after_it(folders: Folders, reader: Reading) -> None:
    desk = folders.desk()
    desk.put(message(subject="Before"))
    desk.wait_for("Before")
    desk.change(is_paused=True)
    desk.put(message(subject="Meanwhile"))
    desk.change(is_paused=False)
    desk.wait_for("Before", "Meanwhile")


def test_a_ticket_has_the_time_at_which_its_message_came(folders: Folders, reader: Reading) -> None:
    desk, now_s = folders.desk(), int(time.time())
    desk.put(message(subject="Before"))
    desk.wait_for("Before")
    desk.wait_until_read()  # otherwise what is moved in counts as older than the mailbox
    desk.change(is_paused=True)
    desk.put(message("Hello?", subject="Waited", Message_ID="<w@x.test>"), arrived_at=now_s - 7200)
    again = message("Anybody?", subject="Re: Waited", In_Reply_To="<w@x.test>")
    desk.put(again, arrived_at=now_s - 3600)
    desk.put(message(subject="Moved here"), arrived_at=now_s - 31 * 24 * _HOUR_S)
    desk.change(is_paused=False)
    desk.wait_for("Before", "Waited", "Moved here")
    found = {row["subject"]: row for row in desk.key.walk("/api/v1/external/tickets")}
    assert found["Waited"]["created_at"] == clock.iso((now_s - 7200) * 1_000_000)
    assert found["Waited"]["waiting_since"] == found["Waited"]["created_at"]
    (reply,) = desk.key.walk(f"/api/v1/external/tickets/{found['Waited']['id']}/replies")
    assert reply["created_at"] == clock.iso((now_s - 3600) * 1_000_000)
    assert found["Moved here"]["created_at"] >= clock.iso(now_s * 1_000_000)
    # Who follows events learns of it now.
    desk.service.settle()
    types = ("ticket.created", "reply.created")
    events = [each for each in desk.key.walk("/api/v1/external/events") if each["type"] in types]
    assert len(events) == 4
    assert all(each["timestamp"] >= clock.iso(now_s * 1_000_000) for each in events[1:])


def test_a_message_that_waited_while_the_desk_answered_is_new_to_it(
    folders: Folders, reader: Reading
) -> None:
    desk, now_s = folders.desk(), int(time.time())
    desk.put(message(subject="Bowl", Message_ID="<b@x.test>"))
    desk.wait_for("Bowl")
    desk.wait_until_read()
    (ticket,) = desk.key.walk("/api/v1/external/tickets")
    desk.change(is_paused=True)
    replies = f"/api/v1/external/tickets/{ticket['id']}/replies"
    answer = desk.key.post(replies, {"body": "Which one?"}).json()["data"]
    visitor = logged_in(desk.tenant)
    visitor.get(f"/tickets/{ticket['id']}")
    again = message("The blue one.", In_Reply_To="<b@x.test>", Cc="Bo <bo@x.test>")
    desk.put(again, arrived_at=now_s - _HOUR_S)
    desk.change(is_paused=False)
    wait_until(lambda: len(desk.key.walk(replies)) == 2)
    newest, asked = desk.key.walk(replies)
    assert (newest["body"], asked["id"]) == ("The blue one.", answer["id"])
    assert newest["created_at"] > asked["created_at"]
    assert 'class="unread"' in visitor.get("/tickets").answer.text
    # Whom it adds reads it, and not what was written before.
    sql = "SELECT created_at FROM ticket_participants WHERE address = 'bo@x.test' LIMIT 1"
    ((joined_at,),) = desk.service.rows(sql)
    assert clock.iso(joined_at) == newest["created_at"]


def test_another_folder_begins_with_its_new_messages(folders: Folders, reader: Reading) -> None:
    desk = folders.desk()
    desk.put(message(subject="In the inbox"))
    desk.wait_for("In the inbox")
    desk.put(message(subject="Old"), "Support", arrived_at=int(time.time()) - _HOUR_S)
    desk.change(imap_folder="Support")
    desk.put(message(subject="In the other folder"), "Support")
    desk.wait_for("In the inbox", "In the other folder")


def test_a_deleted_mailbox_is_read_no_longer(folders: Folders, reader: Reading) -> None:
    desk, other = folders.desk(), folders.desk()
    desk.put(message(subject="Before"))
    desk.wait_for("Before")
    desk.tenant.admin().delete(f"/api/v1/mailboxes/{desk.mailbox.id}")
    wait_until(lambda: not reader.reads(desk))
    desk.put(message(subject="After"))
    other.put(message(subject="Elsewhere"))
    other.wait_for("Elsewhere")
    assert desk.subjects() == ["Before"]


def test_new_numbers_double_nothing_and_lose_nothing(folders: Folders, reader: Reading) -> None:
    desk = folders.desk()
    for number in range(5):
        desk.put(message(subject=f"Number {number}", sender=f"ann{number}@example.test"))
    desk.wait_for(*(f"Number {number}" for number in range(5)))
    desk.wait_until_read()
    desk.change(is_paused=True)
    folders.dovecot.kill()  # its sessions may still write
    # So that two of the new messages get numbers that were read before.
    folder = folders.dovecot.folder(desk.address)
    for file in sorted((*folder.glob("new/*"), *folder.glob("cur/*")), key=lambda f: f.name)[:2]:
        file.unlink()
    folders.dovecot.renumber(desk.address, uid_validity=77)
    new = [f"New {number}" for number in range(3)]
    for subject in new:
        desk.put(message(subject=subject))
    folders.dovecot.start_again()
    desk.change(is_paused=False)
    desk.wait_for(*(f"Number {number}" for number in range(5)), *new)
    wait_until(lambda: desk.stored().uid_validity == 77)
    assert len(desk.messages()) == 8


def test_a_new_folder_with_the_old_number_is_read_too(folders: Folders, reader: Reading) -> None:
    desk = folders.desk()
    for number in range(3):
        desk.put(message(subject=f"Number {number}"))
    desk.wait_for(*(f"Number {number}" for number in range(3)))
    desk.wait_until_read()
    desk.change(is_paused=True)
    wait_until(lambda: not reader.reads(desk))
    folders.dovecot.remove(desk.address)
    folders.dovecot.renumber(desk.address, uid_validity=desk.stored().uid_validity or 0)
    desk.put(message(subject="New"))
    desk.change(is_paused=False)
    desk.wait_for(*(f"Number {number}" for number in range(3)), "New")


def test_what_was_taken_before_a_kill_is_not_taken_again(folders: Folders, reader: Reading) -> None:
    desk = folders.desk()
    for number in range(3):
        desk.put(message(subject=f"Number {number}"))
    desk.wait_until_read()
    desk.change(is_paused=True)
    # As if the process had been killed after the commit.
    sql = "UPDATE mailboxes SET last_uid = 1 WHERE tenant_id = :tenant"
    folders.service.write(lambda tx: tx.execute(sql, {"tenant": desk.tenant.id}))
    desk.change(is_paused=False)
    desk.wait_until_read()
    assert sorted(desk.subjects()) == [f"Number {number}" for number in range(3)]


def test_a_message_that_is_too_large_becomes_a_ticket_that_says_so(folders: Folders) -> None:
    with reading(folders.service, max_bytes=2000):
        desk = folders.desk()
        files = (("big.bin", bytes(100_000)),)
        text = "The bowl is broken, größer.\nSee the photo."
        desk.put(with_files(files, text, subject="Large", Message_ID="<large@example.test>"))
        desk.put(message(subject="Small"))
        desk.wait_for("Large", "Small")
        answer = desk.key.get("/api/v1/external/tickets?per_page=100")
        large = next(each for each in answer.json()["data"] if each["subject"] == "Large")
        assert "This message has 0.1 MiB" in large["description"]
        assert "stays in the folder INBOX" in large["description"]
        assert large["description"].endswith("with another program.\n\n" + text)
        assert large["attachments"] == []
        assert large["customer"]["email"] == "ann@example.test"


def test_a_message_without_room_to_wait_stays_in_the_folder_and_others_follow(
    folders: Folders, reader: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "MAX_WAITING_OF_SENDER", 1)
    desk = folders.desk()
    for number in range(2):
        desk.put(message(f"Spam {number}", X_Spam_Flag="YES"))
    desk.put(message(subject="Wanted"))
    desk.wait_for("Wanted")
    first, second, last = desk.messages()
    assert (first["outcome"], second["outcome"], last["outcome"]) == ("spam", "spam", "ticket")
    raw = folders.service.in_serving(
        lambda state: raw_messages.read(state, desk.tenant.id, second["raw_sha256"])
    )
    assert b"stays in the folder INBOX" in raw and b"Spam 1" not in raw


def test_a_message_of_the_largest_size_is_taken_whole(folders: Folders, reader: Reading) -> None:
    desk = folders.desk()
    raw = message(subject="Largest")
    raw += (b"x" * 76 + b"\r\n") * ((25 * 2**20 - len(raw)) // 78)
    desk.put(raw)
    desk.wait_for("Largest")
    assert desk.messages()[0]["size_bytes"] == len(raw)


def test_one_process_reads_a_folder_and_another_goes_on_after_it(
    folders: Folders, reader: Reading
) -> None:
    desk = folders.desk()
    desk.put(message(subject="First"))
    desk.wait_for("First")
    with reading(folders.service) as other:
        desk.put(message(subject="Second"))
        desk.wait_for("First", "Second")
        assert (reader.reads(desk), other.reads(desk)) == (True, False)
        reader.stop()
        wait_until(lambda: other.reads(desk))
        desk.put(message(subject="Third"))
        desk.wait_for("First", "Second", "Third")


@SQLITE_FIRST
def test_more_mailboxes_than_connections_are_all_read(folders: Folders) -> None:
    with reading(folders.service, max_connections=2):
        desks = [folders.desk() for _ in range(6)]
        for desk in desks:
            desk.put(message(subject="One"))
        for desk in desks:
            desk.wait_for("One")
            desk.put(message(subject="Two"))
        for desk in desks:
            desk.wait_for("One", "Two")


def test_a_gap_in_the_numbers_is_skipped(folders: Folders, reader: Reading) -> None:
    desk = folders.desk(is_paused=True)
    folder = folders.dovecot.folder(desk.address)
    (folder / "dovecot-uidlist").write_text("3 V5 N4000000000\n")
    desk.put(message(subject="Far"))
    sql = "UPDATE mailboxes SET last_uid = 3, uid_validity = 5 WHERE tenant_id = :tenant"
    folders.service.write(lambda tx: tx.execute(sql, {"tenant": desk.tenant.id}))
    desk.change(is_paused=False)
    desk.wait_for("Far")


def test_the_message_of_a_connection_test_makes_no_ticket(
    folders: Folders, reader: Reading
) -> None:
    desk = folders.desk()
    test = message(
        subject="Test of a Sealdesk mailbox",
        sender=desk.address,
        Message_ID="<sealdesk-test.0011@acme.test>",
        Auto_Submitted="auto-generated",
    )
    desk.put(test)
    desk.put(message(subject="After it"))
    desk.wait_for("After it")
