"""What the receiver answers to mail servers, in SMTP and LMTP."""

import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sealdesk.mail.receiving import arrivals, session
from sealdesk.mail.receiving.data import MessageData
from tests.http_client.receivers import Authority
from tests.mail.support import Desk, Receiver, message, receiving
from tests.support.databases import SQLITE_FIRST, SQLITE_ONLY
from tests.support.service import Service, wait_until


class Line:
    """A connection that sends bytes as they are."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._file = self._socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def read(self) -> str:
        """The last line of the next answer."""
        while line := self._file.readline():
            if line[3:4] != b"-":
                return line.decode().strip()
        return ""

    def ask(self, data: bytes) -> str:
        self.send(data)
        return self.read()

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@contextmanager
def greeted(receiver: Receiver) -> Iterator[Line]:
    with closing(Line(receiver.port)) as line:
        line.read()
        assert line.ask(b"EHLO client.test\r\n").startswith("250")
        yield line


def begin(line: Line, address: str) -> None:
    """Up to the data of a message."""
    assert line.ask(b"MAIL FROM:<ann@example.test>\r\n").startswith("250")
    assert line.ask(f"RCPT TO:<{address}>\r\n".encode()).startswith("250")
    assert line.ask(b"DATA\r\n").startswith("354")


def refused(receiver: Receiver, *recipients: str) -> int:
    """The code for the first recipient."""
    with pytest.raises(smtplib.SMTPRecipientsRefused) as refusal:
        receiver.send(message(), *recipients)
    return int(refusal.value.recipients[recipients[0]][0])


def test_only_mailboxes_are_recipients(receiver: Receiver) -> None:
    others = (b"nobody@acme.test", b"nobody", b"postmaster@localhost", b"desk+shop@acme.test")
    with greeted(receiver) as line:
        line.ask(b"MAIL FROM:<ann@example.test>\r\n")
        for address in (*others, b"\xff@a.test"):
            assert line.ask(b"RCPT TO:<" + address + b">\r\n").startswith("55"), address


def test_the_case_of_an_address_does_not_matter(desk: Desk) -> None:
    desk.get_mail(message(), to=desk.address.upper())
    assert desk.ticket()


def test_what_follows_a_plus_leads_to_the_mailbox(receiver: Receiver, desk: Desk) -> None:
    orders, own, former = (
        desk.address.replace("@", f"+{each}@") for each in ("orders", "own", "former")
    )
    desk.get_mail(message(to=orders), to=orders)
    assert list(desk.tokens(desk.ticket())) == ["ann@example.test"]
    other = desk.add_mailbox(address=own)
    desk.get_mail(message(), to=own)
    assert desk.messages()[-1]["mailbox_id"] == other.id
    # What another desk had before goes to nobody.
    desk.execute(
        "INSERT INTO mailbox_directory (address_identity, tenant_id, mailbox_id, receives)"
        " VALUES (:address, :other, '', 'former')",
        address=former,
        other=Desk(receiver).tenant.id,
    )
    assert refused(receiver, former) == 550


def test_a_mailbox_that_is_read_by_imap_is_no_recipient(receiver: Receiver) -> None:
    desk = Desk(receiver, receives="no")
    assert refused(receiver, desk.address) == 550


def test_a_paused_mailbox_is_asked_later(receiver: Receiver) -> None:
    desk = Desk(receiver, is_paused=True)
    assert refused(receiver, desk.address) == 450


def test_a_message_has_at_most_100_recipients(receiver: Receiver, desk: Desk) -> None:
    with greeted(receiver) as line:
        line.ask(b"MAIL FROM:<ann@example.test>\r\n")
        recipient = f"RCPT TO:<{desk.address}>\r\n".encode()
        answers = {line.ask(recipient)[:3] for _ in range(100)}
        assert (answers, line.ask(recipient)[:3]) == ({"250"}, "452")


def test_lmtp_answers_for_each_recipient(service: Service, desk: Desk) -> None:
    with receiving(service, is_lmtp=True) as receiver, closing(Line(receiver.port)) as line:
        line.read()
        assert line.ask(b"EHLO client.test\r\n").startswith("500")
        assert line.ask(b"LHLO client.test\r\n").startswith("250")
        line.ask(b"MAIL FROM:<ann@example.test>\r\n")
        other = desk.add_mailbox().address
        for address in (desk.address, "nobody@acme.test", other):
            line.ask(f"RCPT TO:<{address}>\r\n".encode())
        line.ask(b"DATA\r\n")
        answers = [line.ask(message() + b".\r\n"), line.read()]
        assert [answer[:3] for answer in answers] == ["250", "250"]
        assert line.ask(b"QUIT\r\n").startswith("221")
        assert desk.outcomes() == ["ticket", "note"]


def test_a_session_takes_several_messages(receiver: Receiver, desk: Desk) -> None:
    with receiver.connect() as client:
        for _ in range(3):
            client.sendmail("ann@example.test", [desk.address], message())
    assert len(desk.tickets()) == 3


def test_commands_may_follow_the_data_in_the_same_packet(receiver: Receiver, desk: Desk) -> None:
    with greeted(receiver) as line:
        begin(line, desk.address)
        assert line.ask(message() + b".\r\nNOOP\r\nMAIL FROM:<b@example.test>\r\n")[:3] == "250"
        assert [line.read()[:3], line.read()[:3]] == ["250", "250"]


def test_only_the_right_end_ends_a_message(receiver: Receiver, desk: Desk) -> None:
    ends = (b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r\n.\r")
    smuggled = b"MAIL FROM:<eve@example.test>\r\nRCPT TO:<x@acme.test>\r\nDATA\r\n"
    with greeted(receiver) as line:
        for end in ends:
            begin(line, desk.address)
            raw = message("First.").rstrip() + end + smuggled
            assert line.ask(raw + b"\r\n.\r\n")[:3] == "250", end
            assert line.ask(b"VRFY ann\r\n").startswith("252")  # nothing was answered in between
    assert ["First." in each["description"] for each in desk.tickets()] == [True] * len(ends)


def test_dots_and_long_lines_arrive_as_they_were_sent(desk: Desk) -> None:
    text = ".\n..\n.dot\n" + "x" * 70_000
    raw = f"From: ann@example.test\r\n\r\n{text}\r\n".encode()
    desk.get_mail(raw.replace(b"\n", b"\r\n").replace(b"\r\r", b"\r"))
    assert desk.ticket()["description"].startswith(".\n..\n.dot\nxxx")


def test_a_message_over_the_limit_is_refused_and_the_session_goes_on(
    service: Service, desk: Desk
) -> None:
    with receiving(service, max_bytes=1000) as receiver, greeted(receiver) as line:
        assert line.ask(b"MAIL FROM:<a@b.test> SIZE=1001\r\n")[:3] == "552"
        begin(line, desk.address)
        assert line.ask(b"x" * 100_000 + b"\r\n.\r\n").startswith("552 5.3.4")
        begin(line, desk.address)
        assert line.ask(message() + b".\r\n").startswith("250")


def test_connections_are_limited(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MAX_PER_ADDRESS", 2)
    with closing(Line(receiver.port)) as first, closing(Line(receiver.port)) as second:
        assert first.read()[:3] == second.read()[:3] == "220"
        with closing(Line(receiver.port)) as third:
            assert (third.read()[:3], third.read()) == ("421", "")

    def is_free() -> bool:
        with closing(Line(receiver.port)) as line:
            return line.read().startswith("220")

    wait_until(is_free)


def test_whatever_address_an_envelope_has_its_message_is_taken(desk: Desk) -> None:
    odd = ("a..b@x.test", "ann@x.test.", "ann,lee@x.test", "a@b@x.test", "root", "ann@[IPv6:::1]")
    for sender in odd:
        with desk.receiver.connect() as client:
            assert client.docmd("MAIL", f"FROM:<{sender}> SIZE=500")[0] == 250, sender
            assert client.docmd("RCPT", f"TO:<{desk.address}>")[0] == 250
            assert client.data(message())[0] == 250
    assert len(desk.messages()) == len(odd)


def test_there_is_no_log_in(receiver: Receiver) -> None:
    with receiver.connect() as client:
        assert not client.has_extn("auth")
        assert client.docmd("AUTH", "PLAIN AGEAYg==")[0] in (502, 538)
        assert client.docmd("VRFY", "ann")[0] == 252


@pytest.fixture
def encrypting(service: Service, tmp_path: Path) -> Iterator[Receiver]:
    """A receiver with STARTTLS; the authority is authority.pem."""
    Authority(tmp_path).context("127.0.0.1")
    file = tmp_path / "receiver.pem"
    with receiving(service, certificate=file, private_key=file) as receiver:
        yield receiver


def test_starttls_protects_a_session(encrypting: Receiver, desk: Desk, tmp_path: Path) -> None:
    with encrypting.connect() as client:
        trusting = ssl.create_default_context(cafile=tmp_path / "authority.pem")
        client._host = "127.0.0.1"  # type: ignore[attr-defined] # smtplib verifies this name
        client.starttls(context=trusting)
        client.ehlo()
        assert not client.has_extn("starttls")
        client.sendmail("ann@example.test", [desk.address], message("x" * 200_000))
    assert desk.ticket()


@SQLITE_ONLY
def test_nothing_may_follow_starttls_in_the_clear(encrypting: Receiver) -> None:
    with greeted(encrypting) as line:
        assert line.ask(b"STARTTLS\r\nMAIL FROM:<a@b.test>\r\n").startswith("554")
        assert line.read() == ""


@SQLITE_FIRST
def test_a_message_is_asked_for_again_while_the_database_takes_none(
    own_service: Service,
) -> None:
    with receiving(own_service) as receiver:
        desk = Desk(receiver)
        own_service.refuse_rows("received_messages")
        with greeted(receiver) as line:
            begin(line, desk.address)
            raw = message()
            assert line.ask(raw + b".\r\n").startswith("451")
            own_service.take_rows("received_messages")
            begin(line, desk.address)
            assert line.ask(raw + b".\r\n").startswith("250")
        assert len(desk.tickets()) == 1


@SQLITE_ONLY
def test_an_error_of_one_message_ends_no_session(
    receiver: Receiver, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise ZeroDivisionError

    with greeted(receiver) as line:
        monkeypatch.setattr(arrivals, "receive", fail)
        begin(line, desk.address)
        assert line.ask(message() + b".\r\n").startswith("451")
        monkeypatch.undo()
        begin(line, desk.address)
        assert line.ask(message() + b".\r\n").startswith("250")


def test_data_is_the_same_in_chunks_of_any_size() -> None:
    found = [_in_chunks(size) for size in (1, 2, 3, 5, 7, 10**6)]
    assert set(found) == {(b".a\r\n\r\n.\r\nb\r\n\r.\r\n\n.\nc\r\n..\r\n", b"NEXT")}


def _in_chunks(size: int) -> tuple[bytes, bytes]:
    """What is read of some data, and what follows it."""
    sent = b"..a\r\n\r\n..\r\n.b\r\n\r.\r\n\n.\nc\r\n...\r\n.\r\nNEXT"
    data, rest = MessageData(1000), b""
    for at in range(0, len(sent), size):
        after = data.add(sent[at : at + size])
        if after is not None:
            rest = after + sent[at + size :]
            break
    return data.content(), rest


def test_data_without_a_line_is_empty() -> None:
    data = MessageData(1000)
    assert (data.add(b".\r\n"), data.content()) == (b"", b"")
