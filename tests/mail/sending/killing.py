"""Replies are sent by processes that are killed again and again."""

import itertools
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from sealdesk.caller import SYSTEM, Caller
from sealdesk.db.engine import Tx
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.types import Mailbox, NewMailbox
from sealdesk.mail.threads import actions as threads
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.ticket.types import NewReply, NewTicket, TicketCustomer
from tests.cli.commands import Command, start_command
from tests.servers import free_port
from tests.servers.process import accepts
from tests.support.service import Service, running, wait_until

_GIVE_UP_S = 900.0
_REPLIES_OF_TICKET = 10
_STATES = "SELECT state, count(*) AS number FROM outgoing_messages GROUP BY state LIMIT 9"
_names = itertools.count()


class Accepted(NamedTuple):
    """A message that the server took. at_ns: the monotonic time."""

    message_id: str
    at_ns: int


class Installation(NamedTuple):
    """An installation with replies that wait. record: what its mail server has taken."""

    data_dir: Path
    env: dict[str, str]
    port: int
    record: Path

    @property
    def command(self) -> list[str]:
        name = "worker" if "SEALDESK_DATABASE_URL" in self.env else "serve"
        return [name, *(["--port", "0"] if name == "serve" else [])]

    def accepted(self) -> list[Accepted]:
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        pairs = [line.split() for line in lines]
        return [Accepted(message_id, int(at_ns)) for message_id, at_ns in pairs]

    @contextmanager
    def sending(self) -> Iterator[Command]:
        """A process that sends; killed in the end."""
        bare = {name: it for name, it in os.environ.items() if not name.startswith("SEALDESK_")}
        own = {"SEALDESK_DATA_DIR": str(self.data_dir), **self.env}
        process = start_command(*self.command, env=bare | own)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def serving(self) -> Iterator[subprocess.Popen[bytes]]:
        """The mail server; killed in the end."""
        words = ["-m", "tests.mail.sending.recording_server", str(self.port), str(self.record)]
        process = subprocess.Popen([sys.executable, *words], cwd=Path(__file__).parents[3])
        try:
            while not accepts(self.port):
                assert process.poll() is None, "the mail server did not start"
                time.sleep(0.02)
            yield process
        finally:
            process.kill()
            process.wait()


def prepare(
    data_dir: Path, template: Path | None, env: dict[str, str], *, mailboxes: int, replies: int
) -> Installation:
    """A new installation whose mailboxes have so many replies to send together.

    They are queued, and sent by the next process.
    """
    made = Installation(
        data_dir,
        {**env, "SEALDESK_MAIL_ALLOWED_CIDRS": "127.0.0.0/8"},
        free_port(),
        data_dir.parent / f"{data_dir.name}.accepted",
    )
    with running(data_dir, template, **made.env) as service:
        for _ in range(mailboxes):
            tenant_id = service.tenant().id
            mailbox = _add_mailbox(service, tenant_id, made.port)
            for number in range(0, replies // mailboxes, _REPLIES_OF_TICKET):
                of_ticket = min(_REPLIES_OF_TICKET, replies // mailboxes - number)
                _add_replies(service, tenant_id, mailbox, of_ticket)
        wait_until(lambda: states(service) == {"queued": replies})
        set_paused(service, is_paused=False)
        service.stop()
    return made


def _add_mailbox(service: Service, tenant_id: str, port: int) -> Mailbox:
    """Paused, so that nothing is sent before the test begins."""
    caller, now_us = Caller(tenant_id, SYSTEM, frozenset(), ""), service.clock.now_us()
    new = NewMailbox(
        address=f"desk{next(_names)}@desk.example",
        smtp_host="127.0.0.1",
        smtp_port=port,
        smtp_security="none",
        per_minute=600,
        is_paused=True,
    )
    key_ring = service.state.key_ring
    return service.write(
        lambda tx: mailboxes.create_mailbox(tx, caller, new, key_ring=key_ring, now_us=now_us)
    )


def _add_replies(service: Service, tenant_id: str, mailbox: Mailbox, count: int) -> None:
    caller, address = Caller(tenant_id, SYSTEM, frozenset(), ""), "ann@customer.example"
    now_us = service.clock.now_us()

    async def work(tx: Tx) -> None:
        new = NewTicket("A broken bowl", "It broke.", TicketCustomer(address, "Ann"))
        ticket = await tickets.open_ticket(tx, caller, new, source="api", now_us=now_us)
        people = [(address, "Ann")]
        await threads.add_people(tx, tenant_id, ticket.id, mailbox.id, people, now_us)
        for number in range(count):
            reply = NewReply(body=f"Reply {number}: we are on it.")
            await tickets.reply(tx, caller, ticket.id, reply, now_us=now_us)

    service.write(work)


def states(service: Service) -> dict[str, int]:
    """How many messages are in each state."""
    return {row["state"]: row["number"] for row in service.rows(_STATES)}


def set_paused(service: Service, *, is_paused: bool) -> None:
    sql = "UPDATE mailboxes SET is_paused = :is_paused"
    service.write(lambda tx: tx.execute(sql, {"is_paused": is_paused}))


def send_all(made: Installation, count: int, *, kill_every_s: float) -> list[int]:
    """Send until the server has taken so many; when processes were killed, in monotonic time.

    The process that sends and the mail server are killed in turn. The last ones are left: whose
    attempts have failed wait for minutes.
    """
    kills: list[int] = []
    deadline = time.monotonic() + _GIVE_UP_S
    with ExitStack() as sending, ExitStack() as serving:
        serving.enter_context(made.serving())
        sending.enter_context(made.sending())
        while _send_for(made, count * 99 // 100, kill_every_s * random.uniform(0.7, 1.3)):
            assert time.monotonic() < deadline, "not all messages were sent"
            stack, begin = (serving, made.serving) if len(kills) % 2 else (sending, made.sending)
            stack.close()
            kills.append(time.monotonic_ns())
            stack.enter_context(begin())
    return kills


def _send_for(made: Installation, count: int, seconds: float) -> bool:
    """Wait so long; False as soon as the server has taken so many."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if len({each.message_id for each in made.accepted()}) >= count:
            return False
        time.sleep(0.05)
    return True


def doubled(made: Installation, kills: list[int]) -> int:
    """How many messages were taken twice. None more often, and each with a kill in between."""
    taken: dict[str, list[int]] = {}
    for each in made.accepted():
        taken.setdefault(each.message_id, []).append(each.at_ns)
    again = [at_ns for at_ns in taken.values() if len(at_ns) > 1]
    for at_ns in again:
        assert len(at_ns) == 2, "a message was sent three times"
        assert any(at_ns[0] < kill < at_ns[1] for kill in kills), "it was sent twice without a kill"
    return len(again)
