"""Runs imports in a running service, and writes the files for them."""

from pathlib import Path

from sealdesk.state import AppState
from sealdesk.tickets.ticket.types import FirstStatus
from sealdesk_mail_import import running
from sealdesk_mail_import.local import LocalSource
from sealdesk_mail_import.maildir import Maildir
from sealdesk_mail_import.mbox import Mbox
from sealdesk_mail_import.types import Failure, Source, Totals
from tests.mail.support import Desk

SEPARATOR = b"From ann@example.test Mon Jan  1 10:00:00 2024\n"


def write_mbox(path: Path, *messages: bytes, separator: bytes = SEPARATOR) -> Path:
    path.write_bytes(
        b"".join(separator + each.replace(b"\r\n", b"\n") + b"\n" for each in messages)
    )
    return path


def import_into(
    desk: Desk, *paths: Path, status: FirstStatus = "resolved"
) -> tuple[Totals, list[Failure]]:
    """Import files and folders; what became of the messages, and those that failed."""
    failures: list[Failure] = []
    sources: list[Source] = [
        LocalSource(Maildir(each) if each.is_dir() else Mbox(each)) for each in paths
    ]

    async def work(state: AppState) -> Totals:
        now_s = state.clock.now_us() // 1_000_000
        order = await running.read_sources(sources, now_s, lambda size_bytes: None)
        wanted = running.Wanted(desk.mailbox, status)
        progress = running.Progress(lambda count: None, failures.append)
        return await running.Import(state, wanted, progress).run(order)

    return desk.receiver.service.in_serving(work), failures
