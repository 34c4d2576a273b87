"""`sealdesk mail import` in a terminal, and killed."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sealdesk_mail_import import running
from tests.cli.commands import start_command
from tests.cli.terminal import Terminal
from tests.mail.receiving.killing import Place
from tests.mail.receiving.test_killing import place
from tests.mail.support import message
from tests.sealdesk_mail_import.imports import write_mbox
from tests.support.databases import SQLITE_FIRST, SQLITE_ONLY
from tests.support.service import Service, wait_until

__all__ = ["place"]
_COUNT = 30 * running._BATCH_MESSAGES


def terminal_of(place: Place) -> Terminal:
    return Terminal(place.data_dir, **place.env)


def write_threads(path: Path) -> Path:
    """Questions, each followed by two replies."""
    return write_mbox(path, *_threads())


def _threads() -> Iterator[bytes]:
    for number in range(_COUNT):
        day, question = 1 + number % 3, number - number % 3
        yield message(
            f"Text {number}",
            subject=f"Number {number}",
            sender=f"ann{question}@example.test",
            Message_ID=f"<{number}@example.test>",
            Date=f"{day:02d} Jan 2024 10:00:00 +0000",
            **({"In_Reply_To": f"<{question}@example.test>"} if number % 3 else {}),
        )


def count(service: Service, place: Place) -> int:
    sql = "SELECT count(*) AS number FROM received_messages WHERE tenant_id = :t LIMIT 1"
    return int(service.rows(sql, t=place.tenant_id)[0]["number"])


def _has_more(service: Service, place: Place, before: int) -> bool:
    return count(service, place) > before


@SQLITE_FIRST
def test_an_import_that_is_killed_goes_on(place: Place, tmp_path: Path) -> None:
    path = write_threads(tmp_path / "a.mbox")
    arguments = ("mail", "import", "mbox", str(path), "--mailbox", place.address)
    terminal, kills = terminal_of(place), 0
    with place.looked_at() as service:
        for _ in range(3):
            before = count(service, place)
            process = start_command(*arguments, env=terminal.env)
            wait_until(partial(_has_more, service, place, before))
            kills += process.poll() is None
            process.kill()
            process.wait()
        assert kills == 3
        assert 0 < count(service, place) < _COUNT
        printed = terminal.out(*arguments)
        assert "imported before" in printed
        assert count(service, place) == _COUNT
        sql = "SELECT subject, reply_count FROM tickets WHERE tenant_id = :t ORDER BY id LIMIT 9999"
        tickets = [tuple(row) for row in service.rows(sql, t=place.tenant_id)]
        assert sorted(tickets) == sorted((f"Number {n}", 2) for n in range(0, _COUNT, 3))
    assert f"imported before  {_COUNT}" in terminal.out(*arguments)


@SQLITE_ONLY
def test_what_cannot_be_imported_is_said(place: Place, tmp_path: Path) -> None:
    terminal = terminal_of(place)
    path = write_mbox(tmp_path / "a.mbox", message(), b"\n")
    done = terminal.run("mail", "import", "mbox", str(path), "--mailbox", place.address)
    assert done.returncode == 1
    assert "tickets       1" in done.stdout and "not imported  1" in done.stdout
    assert f"sealdesk: {path} at byte " in done.stderr and "it is empty" in done.stderr
    for kind, other, address, reason in (
        ("mbox", tmp_path, place.address, "is a folder"),
        ("mbox", tmp_path / "none", place.address, "is no file"),
        ("maildir", tmp_path, place.address, "is no Maildir"),
        ("mbox", path, "nobody@acme.test", "there is no mailbox nobody@acme.test"),
    ):
        refusal = terminal.refused("mail", "import", kind, str(other), "--mailbox", address)
        assert reason in refusal
