"""What is wrong with a server is shown, keeps no other mailbox waiting, and heals by itself."""

import logging
from collections.abc import Iterator

import pytest

from sealdesk.mail.imap import commands
from tests.http_client.receivers import Authority
from tests.mail.reading.servers import FaultyServer
from tests.mail.reading.support import Desk, Folders, Reading, reading
from tests.mail.support import message
from tests.servers.dovecot import PASSWORD
from tests.support.service import wait_until

LISTED = b"UID FETCH 1:"


@pytest.fixture
def server(authority: Authority) -> Iterator[FaultyServer]:
    running = FaultyServer(authority.context("localhost"), message(subject="In the folder"))
    yield running
    running.stop()


def _event_types(desk: Desk) -> list[str]:
    desk.service.settle()
    sql = "SELECT type FROM events WHERE tenant_id = :tenant ORDER BY position LIMIT 100"
    types = [row["type"] for row in desk.service.rows(sql, tenant=desk.tenant.id)]
    return [each for each in types if each.startswith("mailbox.")]


def test_a_wrong_password_is_shown_and_heals(folders: Folders, reader: Reading) -> None:
    desk = folders.desk(imap_password="wrong")
    desk.put(message(subject="Waiting"))
    desk.wait_for_problem("login_refused")
    assert desk.subjects() == []
    desk.change(imap_password=PASSWORD)
    desk.wait_for("Waiting")
    desk.wait_for_problem(None)
    assert _event_types(desk) == ["mailbox.failing", "mailbox.recovered"]


def test_a_missing_folder_is_shown_and_read_when_it_is_there(
    folders: Folders, reader: Reading
) -> None:
    desk = folders.desk(imap_folder="Support")
    desk.wait_for_problem("folder_missing")
    desk.put(message(subject="In a new folder"), "Support")
    desk.wait_for("In a new folder")
    desk.wait_for_problem(None)


def test_an_expired_certificate_is_shown(
    folders: Folders, reader: Reading, authority: Authority
) -> None:
    expired = FaultyServer(authority.context("localhost", days=(-2, -1)), b"")
    desk = folders.desk(imap_port=expired.port)
    desk.wait_for_problem("certificate_invalid")
    expired.stop()


def test_a_server_that_closes_at_once_is_shown_and_heals(
    folders: Folders, reader: Reading, server: FaultyServer
) -> None:
    server.closes = True
    desk = folders.desk(imap_port=server.port)
    desk.wait_for_problem("closed")
    server.closes = False
    desk.wait_for("In the folder")
    desk.wait_for_problem(None)


def test_a_single_lost_connection_is_no_problem(
    folders: Folders, reader: Reading, server: FaultyServer
) -> None:
    desk = folders.desk(imap_port=server.port)
    desk.wait_for("In the folder")
    wait_until(lambda: desk.stored().last_uid == 1)
    before = server.connection_count
    server.drop()
    wait_until(lambda: server.connection_count > before)
    assert _event_types(desk) == []


def test_a_message_that_arrives_while_the_folder_is_listed_is_taken(
    folders: Folders, reader: Reading, server: FaultyServer
) -> None:
    # The server tells of it once, at the end of the empty list, and never during IDLE.
    server.answers[b"CAPABILITY"] = b"* CAPABILITY IMAP4rev1 IDLE\r\n"
    server.answers[b"UID FETCH *"] = b"* 1 FETCH (UID 1 RFC822.SIZE 100)\r\n* 2 EXISTS\r\n"
    server.answers[b"IDLE"] = server.hangs = b"+ idling\r\n"
    server.answers[b"UID FETCH 2:"] = b""
    server.later[b"UID FETCH 2:"] = b"* 2 FETCH (UID 2 RFC822.SIZE 100)\r\n"
    desk = folders.desk(imap_port=server.port)
    wait_until(lambda: desk.stored().last_uid == 2)


def test_flags_that_change_meanwhile_are_no_messages(
    folders: Folders, reader: Reading, server: FaultyServer
) -> None:
    told = b"* 1 FETCH (UID 1 RFC822.SIZE 100)\r\n* 1 FETCH (UID 1 FLAGS (\\Seen))\r\n"
    server.answers |= {b"UID FETCH 1:": told, b"UID FETCH *": told}
    server.answers[b"CAPABILITY"] = b"* CAPABILITY IMAP4rev1 IDLE\r\n"
    server.answers[b"IDLE"] = server.hangs = b"+ idling\r\n"
    desk = folders.desk(imap_port=server.port)
    wait_until(lambda: b"IDLE\r\n" in server.commands)
    fetched = [each for each in server.commands if b"BODY.PEEK[]" in each]
    assert len(fetched) == 1 and desk.subjects() == ["In the folder"]


def test_a_server_that_does_not_tell_by_itself_is_asked(
    folders: Folders, reader: Reading, server: FaultyServer
) -> None:
    server.answers |= {b"NOOP": b"* 2 EXISTS\r\n", b"UID FETCH 2:": b""}
    server.later[b"UID FETCH 2:"] = b"* 2 FETCH (UID 2 RFC822.SIZE 100)\r\n"
    desk = folders.desk(imap_port=server.port)
    wait_until(lambda: desk.stored().last_uid == 2)
    assert b"IDLE\r\n" not in server.commands


def test_a_full_account_is_shown_and_heals(
    folders: Folders, reader: Reading, server: FaultyServer
) -> None:
    server.answers[b"EXAMINE"] = b"NO [OVERQUOTA] the account is full"
    desk = folders.desk(imap_port=server.port)
    desk.wait_for_problem("quota_full")
    server.answers.clear()
    desk.wait_for("In the folder")
    desk.wait_for_problem(None)


def test_a_server_that_hangs_is_shown_and_keeps_nobody_waiting(
    folders: Folders, server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "SILENCE_S", 0.3)
    server.hangs = b"Subject: In the"
    desk, other = folders.desk(imap_port=server.port), folders.desk()
    with reading(folders.service):
        other.put(message(subject="Elsewhere"))
        other.wait_for("Elsewhere")
        desk.wait_for_problem("timed_out")
        assert desk.subjects() == []
        server.hangs = None
        desk.wait_for("In the folder")
        desk.wait_for_problem(None)


@pytest.mark.parametrize(
    "answer",
    [
        b"* 1 FETCH (UID 1 RFC822.SIZE 100 X {9999999999}\r\n",
        b"* 1 FETCH (UID 1 RFC822.SIZE 100 X " + b"{1}\r\nx" * 20 + b")\r\n",
        b"* 1 FETCH (" + b"x" * 100_000 + b")\r\n",
        b"* 1 EXPUNGE\r\n" * 20_000,
    ],
)
def test_a_server_that_sends_without_end_is_left(
    folders: Folders, reader: Reading, server: FaultyServer, answer: bytes
) -> None:
    server.answers[b"FETCH"] = answer
    desk = folders.desk(imap_port=server.port)
    desk.wait_for_problem("unexpected_answer")
    server.answers.clear()
    desk.wait_for("In the folder")


def test_a_message_that_is_larger_than_the_server_said_is_too_large(
    folders: Folders, server: FaultyServer
) -> None:
    header, text = message(subject="Grown").split(b"\r\n\r\n", 1)
    server.raw = header + b"\r\n\r\n" + text * 200
    server.raw = server.raw[:2001]
    answer = b"* 1 FETCH (UID 1 BODY[HEADER]<0> {%d}\r\n%s)\r\n" % (len(header), header)
    server.answers[b"UID FETCH 1 (UID BODY.PEEK[HEADER]"] = answer
    desk = folders.desk(imap_port=server.port)
    with reading(folders.service, max_bytes=2000):
        desk.wait_for("Grown")
    assert "This message has" in desk.key.get("/api/v1/external/tickets").text


def test_passwords_are_in_no_log(
    folders: Folders, reader: Reading, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        refused, right = folders.desk(imap_password="wrong-one"), folders.desk()
        refused.wait_for_problem("login_refused")
        right.put(message(subject="Read"))
        right.wait_for("Read")
    assert "wrong-one" not in caplog.text
    assert PASSWORD not in caplog.text
