"""The files of a reply go along with its message, as far as one message has room for them."""

from pathlib import Path

import pytest

from sealdesk.mail.sending import contents
from tests.support.for_each import for_each
from tests.support.mail_desk import Desk
from tests.support.mail_server import MailServer
from tests.support.service import wait_until

ANA = "ana@customer.example"
MIB = 1024 * 1024


def sent_files(server: MailServer) -> list[tuple[str | None, str, object]]:
    """Of each file of the only message: name, type, bytes."""
    (received,) = server.received
    return [
        (each.get_filename(), each.get_content_type(), each.get_payload(decode=True))
        for each in received.message.iter_attachments()
    ]


def send(desk: Desk, *files: dict[str, object]) -> None:
    ticket = desk.ticket(ANA)
    desk.reply(ticket, attachment_ids=[each["id"] for each in files])
    wait_until(lambda: desk.delivery(ticket) == "sent")


@for_each(
    ["name", "declared", "arrives_as"],
    [
        ("invoice.pdf", "application/pdf", "application/pdf"),
        ("Größe, 見積.txt", "text/plain", "text/plain"),
        ('a"b;c.csv', "text/csv; charset=utf-8", "text/csv"),
        ("forwarded.eml", "message/rfc822", "application/octet-stream"),
        ("parts.bin", "multipart/mixed", "application/octet-stream"),
    ],
)
def test_a_file_arrives_with_its_name_type_and_bytes(
    name: str, declared: str, arrives_as: str, desk: Desk, server: MailServer
) -> None:
    content = "Größe\r\n.\r\nFrom the end\r".encode() + bytes(range(256))
    server.received.clear()
    send(desk, desk.key.upload(name, content, declared).json()["data"])
    assert sent_files(server) == [(name, arrives_as, content)]


def test_what_one_message_has_no_room_for_is_named_in_it(
    desk: Desk, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_MAX_FILES_BYTES", 100)
    send(desk, *(desk.key.attachment(f"{size}.txt", b"x" * size) for size in (60, 70, 40)))
    assert [name for name, _, _ in sent_files(server)] == ["60.txt", "40.txt"]
    text = server.received[0].message.get_body(("plain",))
    assert text is not None
    assert "(Not attached, as it is too large for e-mail: 70.txt)" in text.get_content()


def test_a_reply_waits_for_a_file_that_cannot_be_read_and_others_go_out(
    desk: Desk, server: MailServer
) -> None:
    ticket, other = desk.ticket(ANA), desk.ticket(ANA)
    uploaded = desk.key.attachment("a.txt", b"text")
    file = kept_file(desk)
    aside = file.rename(file.with_suffix(".aside"))
    desk.reply(ticket, attachment_ids=[uploaded["id"]])
    desk.reply(other, "Without a file")
    wait_until(lambda: desk.delivery(other) == "sent")
    (reply,) = desk.replies(ticket)
    waits = "queued", "A file of this reply cannot be read."
    assert (reply["delivery"], reply["delivery_reason"]) == waits
    aside.rename(file)
    desk.service.clock.advance(60)
    wait_until(lambda: desk.delivery(ticket) == "sent")


def kept_file(desk: Desk) -> Path:
    """That of the only attachment of a tenant."""
    kept = desk.service.settings.data_dir / "attachments"
    (file,) = kept.rglob(f"*.{desk.tenant.id}")
    return file
