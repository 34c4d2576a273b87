"""Mailboxes whose folders are on a Dovecot, and readers of them."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.store.directory import Place
from sealdesk.mail.mailboxes.types import Mailbox, MailboxChange, NewMailbox
from sealdesk.mail.reading import leasing, reader, rules
from sealdesk.mail.reading.leasing import FolderReading
from sealdesk.state import AppState
from tests.servers import Dovecot
from tests.servers.dovecot import PASSWORD
from tests.support.service import Service, Tenant, wait_until

_LISTED = "SELECT 1 FROM mailboxes WHERE id = :id AND deleted_at IS NULL LIMIT 1"
_names = iter(range(1_000_000))


class Reading:
    """A process that reads folders, in the serving thread of a service."""

    def __init__(self, service: Service, max_connections: int, max_bytes: int) -> None:
        self._service = service
        self.folders: FolderReading
        self._task: asyncio.Task[None]
        service.in_serving(lambda state: self._begin(state, max_connections, max_bytes))

    async def _begin(self, state: AppState, max_connections: int, max_bytes: int) -> None:
        mail = state.settings.mail._replace(max_bytes=max_bytes)
        settings = msgspec.structs.replace(state.settings, mail=mail)
        own = msgspec.structs.replace(state, settings=settings)
        self.folders = FolderReading(own, max_connections)
        # On SQLite there is one process, which would end the leases of another one.
        self.folders._has_old_leases = False
        self._task = asyncio.create_task(self.folders.run())

    def reads(self, desk: "Desk") -> bool:
        """Whether this process reads the folder of the desk's mailbox."""
        return Place(desk.tenant.id, desk.mailbox.id) in self.folders._tasks

    def stop(self) -> None:
        """As on SIGTERM; also a second time."""

        async def end(_: AppState) -> None:
            self._task.cancel()
            await asyncio.wait([self._task])

        self._service.in_serving(end)


@contextmanager
def reading(
    service: Service, max_connections: int = 50, max_bytes: int = 25 * 2**20
) -> Iterator[Reading]:
    """Reads folders, and does not wait long before it looks or tries again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leasing, "LOOK_EVERY_S", 0.1)
        patch.setattr(reader, "POLL_S", 0.2)
        patch.setattr(rules, "FIRST_DELAY_S", 0.05)
        patch.setattr(rules, "FIRST_LASTING_DELAY_S", 0.1)
        patch.setattr(rules, "MAX_DELAY_S", 0.5)
        running = Reading(service, max_connections, max_bytes)
        try:
            yield running
        finally:
            running.stop()


class Desk:
    """A tenant with a mailbox that reads a folder."""

    def __init__(self, service: Service, dovecot: Dovecot, **new: Any) -> None:
        self.service = service
        self.dovecot = dovecot
        self.tenant: Tenant = service.tenant()
        self.key = self.tenant.key()
        self.address = f"imap{next(_names)}.{self.tenant.id[-8:]}@acme.test"
        wanted = {
            "address": self.address,
            "receives": "imap",
            "imap_host": "localhost",
            "imap_port": dovecot.tls_port,
            "imap_username": self.address,
            "imap_password": PASSWORD,
            **new,
        }
        self.mailbox = self._write_mailbox(NewMailbox(**wanted))

    def _write_mailbox(self, new: NewMailbox) -> Mailbox:
        caller = Caller(self.tenant.id, SYSTEM, frozenset(), "")
        key_ring, now_us = self.service.state.key_ring, self.service.clock.now_us()
        return self.service.write(
            lambda tx: mailboxes.create_mailbox(tx, caller, new, key_ring=key_ring, now_us=now_us)
        )

    def change(self, **fields: Any) -> None:
        caller = Caller(self.tenant.id, SYSTEM, frozenset(), "")
        key_ring, now_us = self.service.state.key_ring, self.service.clock.now_us()
        self.service.write(
            lambda tx: mailboxes.change_mailbox(
                tx,
                caller,
                self.mailbox.id,
                MailboxChange(**fields),
                key_ring=key_ring,
                if_match=None,
                now_us=now_us,
            )
        )

    def pause(self) -> None:
        if self.service.rows(_LISTED, id=self.mailbox.id):
            self.change(is_paused=True)

    def put(self, raw: bytes, folder: str = "INBOX", arrived_at: int | None = None) -> Path:
        """Let a message arrive in the folder. arrived_at: in Unix time, by default now."""
        file = self.dovecot.put(self.address, raw, folder)
        if arrived_at is not None:
            os.utime(file, (arrived_at, arrived_at))
        return file

    def subjects(self) -> list[str]:
        """Those of all tickets, oldest first."""
        sql = "SELECT subject FROM tickets WHERE tenant_id = :tenant ORDER BY id LIMIT 9999"
        return [row["subject"] for row in self.service.rows(sql, tenant=self.tenant.id)]

    def messages(self) -> list[Any]:
        """The rows of received messages, oldest first."""
        sql = "SELECT * FROM received_messages WHERE tenant_id = :tenant ORDER BY id LIMIT 9999"
        return self.service.rows(sql, tenant=self.tenant.id)

    def stored(self) -> Mailbox:
        """The mailbox as it is stored now."""
        return self.service.read(
            lambda tx: mailboxes.get_mailbox(tx, self.tenant.id, self.mailbox.id)
        )

    def wait_until_read(self) -> None:
        """Wait until everything in the folder has been taken."""
        files = self.dovecot.folder(self.address)
        wait_until(lambda: (self.stored().last_uid or 0) >= _count(files))

    def wait_for(self, *subjects: str) -> None:
        """Wait until these are the subjects of all tickets, in any order."""
        wait_until(lambda: len(self.subjects()) >= len(subjects))
        assert sorted(self.subjects()) == sorted(subjects)

    def wait_for_problem(self, code: str | None) -> None:
        """Wait until receiving has this problem, or none."""

        def has_problem() -> bool:
            problem = self.stored().problems.receiving
            return (problem.code if problem else None) == code

        wait_until(has_problem)


class Folders:
    """Makes desks with folders."""

    def __init__(self, service: Service, dovecot: Dovecot) -> None:
        self.service = service
        self.dovecot = dovecot
        self._desks: list[Desk] = []

    def desk(self, **new: Any) -> Desk:
        self._desks.append(Desk(self.service, self.dovecot, **new))
        return self._desks[-1]

    def pause(self) -> None:
        """Read none of them any more."""
        for desk in self._desks:
            desk.pause()


def _count(folder: Path) -> int:
    return sum(1 for name in ("new", "cur") for _ in (folder / name).iterdir())
