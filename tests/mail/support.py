"""A receiver of e-mail beside a running service, and messages for it."""

import smtplib
from collections.abc import Iterator
from contextlib import contextmanager
from email import policy
from email.message import EmailMessage
from email.utils import formatdate
from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.caller import SYSTEM, Caller
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.types import Mailbox, NewMailbox
from sealdesk.mail.received_messages import release_service
from sealdesk.mail.receiving import listening
from sealdesk.mail.receiving.listening import Listener
from sealdesk.mail.receiving.types import WAITING
from sealdesk.mail.threads import rules as threads
from sealdesk.settings import MailSettings
from sealdesk.state import AppState
from sealdesk.teams import actions as teams
from sealdesk.teams.types import NewTeam
from tests.support.client import Key
from tests.support.service import Service, Tenant

MX = "mx.acme.test"  # whose Authentication-Results are believed
_names = iter(range(1_000_000))
_MORE_ATTEMPTS = 3
_LATER = 451
Ticket = dict[str, Any]
Files = tuple[tuple[str, bytes], ...]


class Receiver:
    """A receiver that uses the database of a service."""

    def __init__(self, service: Service, settings: MailSettings) -> None:
        self.service = service
        self._settings = settings
        self._listener: Listener = service.in_serving(self._listen)
        self.port = self._listener.port

    async def _listen(self, state: AppState) -> Listener:
        settings = msgspec.structs.replace(state.settings, mail=self._settings)
        own = msgspec.structs.replace(state, settings=settings)
        return await listening.listen(own, listening.bind(self._settings))

    def stop(self) -> None:
        self.service.in_serving(lambda _: self._listener.stop())

    def connect(self, *, is_lmtp: bool = False) -> smtplib.SMTP:
        """A client that has greeted."""
        client = (smtplib.LMTP if is_lmtp else smtplib.SMTP)("127.0.0.1", self.port, timeout=120)
        client.ehlo()
        return client

    def send(self, raw: bytes, *recipients: str, sender: str = "ann@example.test") -> None:
        """Send a message as a mail server does. Raises what smtplib raises."""
        with self.connect() as client:
            client.sendmail(sender, recipients, raw)


class Desk:
    """A tenant with a mailbox that receives."""

    def __init__(self, receiver: Receiver, **new: Any) -> None:
        self.receiver = receiver
        self.tenant: Tenant = receiver.service.tenant()
        self.key: Key = self.tenant.key()
        self.mailbox = self.add_mailbox(**new)
        self.address = self.mailbox.address

    def add_mailbox(self, **new: Any) -> Mailbox:
        service = self.receiver.service
        address = f"desk{next(_names)}@acme.test"
        wanted = NewMailbox(**{"address": address, "receives": "smtp", **new})
        caller = Caller(self.tenant.id, SYSTEM, frozenset(), "")
        return service.write(
            lambda tx: mailboxes.create_mailbox(
                tx,
                caller,
                wanted,
                key_ring=service.state.key_ring,
                now_us=service.clock.now_us(),
            )
        )

    def add_team(self) -> str:
        """The id of a new team."""
        service, caller = self.receiver.service, Caller(self.tenant.id, SYSTEM, frozenset(), "")
        new, now_us = NewTeam(name="Shop"), service.clock.now_us()
        return service.write(lambda tx: teams.create_team(tx, caller, new, now_us=now_us)).id

    def get_mail(self, raw: bytes, *, to: str = "", sender: str = "ann@example.test") -> None:
        """Let a message arrive. to: by default the address of the mailbox.

        As mail servers do, it is sent again if it is refused for now, as on a machine whose
        database takes seconds.
        """
        for _ in range(_MORE_ATTEMPTS):
            try:
                return self.receiver.send(raw, to or self.address, sender=sender)
            except smtplib.SMTPResponseException as refused:
                if refused.smtp_code != _LATER:
                    raise
        self.receiver.send(raw, to or self.address, sender=sender)

    def tickets(self) -> list[Ticket]:
        """All tickets, newest first, as the API shows them."""
        answer = self.key.get("/api/v1/external/tickets?per_page=100")
        assert answer.status_code == 200, answer.text
        return list(answer.json()["data"])

    def ticket(self) -> Ticket:
        """The only ticket."""
        (found,) = self.tickets()
        return found

    def replies(self, ticket: Ticket) -> list[Any]:
        """The replies and notes of a ticket, oldest first."""
        answer = self.key.get(f"/api/v1/external/tickets/{ticket['id']}/replies?per_page=100")
        assert answer.status_code == 200, answer.text
        return sorted(answer.json()["data"], key=lambda each: each["id"])

    def reread(self, ticket: Ticket) -> Ticket:
        return dict(self.key.get(f"/api/v1/external/tickets/{ticket['id']}").json()["data"])

    def change(self, ticket: Ticket, **fields: Any) -> None:
        answer = self.key.patch(f"/api/v1/external/tickets/{ticket['id']}", fields)
        assert answer.status_code == 200, answer.text

    def messages(self) -> list[Any]:
        """The rows of received messages, oldest first."""
        sql = "SELECT * FROM received_messages WHERE tenant_id = :tenant ORDER BY id LIMIT 100"
        return self.receiver.service.rows(sql, tenant=self.tenant.id)

    def now(self) -> str:
        """The time of the service as the header field Date has it."""
        return formatdate(self.receiver.service.clock.now_us() / 1_000_000)

    def outcomes(self) -> list[str]:
        return [row["outcome"] for row in self.messages()]

    def tokens(self, ticket: Ticket) -> dict[str, str]:
        """The token of each participant of a ticket, by address."""
        sql = """
        SELECT address, token FROM ticket_participants
        WHERE tenant_id = :tenant AND ticket_id = :id ORDER BY address LIMIT 100"""
        rows = self.receiver.service.rows(sql, tenant=self.tenant.id, id=ticket["id"])
        return {row["address"]: row["token"] for row in rows}

    def reply_address(self, ticket: Ticket, address: str = "ann@example.test") -> str:
        return threads.reply_address(self.address, self.tokens(ticket)[address])

    def audit(self, action: str) -> list[Any]:
        """The entries of an action in the audit log, oldest first."""
        sql = """
        SELECT * FROM audit WHERE tenant_id = :tenant AND action = :action
        ORDER BY id LIMIT 100"""
        return self.receiver.service.rows(sql, tenant=self.tenant.id, action=action)

    def block(self, pattern: str) -> None:
        self.execute(
            "INSERT INTO mail_blocks (tenant_id, pattern, actor_id, actor_name, created_at)"
            " VALUES (:tenant, :pattern, '', '', 0)",
            pattern=pattern,
        )

    def release(self) -> None:
        """Release the oldest message that waits."""
        row = next(row for row in self.messages() if row["outcome"] in WAITING)
        caller = Caller(self.tenant.id, SYSTEM, frozenset(), "", has_custom_fields=False)

        async def work(state: AppState) -> None:
            await release_service.release_now(state, caller, row["id"])

        self.receiver.service.in_serving(work)

    def execute(self, sql: str, **params: Any) -> None:
        values = {"tenant": self.tenant.id, **params}
        self.receiver.service.write(lambda tx: tx.execute(sql, values))


@contextmanager
def receiving(service: Service, **settings: Any) -> Iterator[Receiver]:
    """A receiver with these settings."""
    usual = MailSettings(
        "127.0.0.1", 0, False, None, None, 25 * 2**20, frozenset({MX}), False, {}, ""
    )
    receiver = Receiver(service, usual._replace(**settings))
    try:
        yield receiver
    finally:
        receiver.stop()


def message_id() -> str:
    return f"<{ids.mint(next(_names))}@example.test>"


def message(
    text: str = "The bowl is broken.",
    *,
    sender: str = "Ann <ann@example.test>",
    to: str = "desk@acme.test",
    subject: str = "A broken bowl",
    **headers: str,
) -> bytes:
    """A message as a program sends it. headers: In_Reply_To and the like."""
    return with_files((), text, sender=sender, to=to, subject=subject, **headers)


def with_files(
    files: Files,
    text: str = "The bowl is broken.",
    *,
    sender: str = "Ann <ann@example.test>",
    to: str = "desk@acme.test",
    subject: str = "A broken bowl",
    **headers: str,
) -> bytes:
    """A message with these files: their names and contents."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = sender, to, subject
    made["Message-ID"] = headers.pop("Message_ID", "") or message_id()
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    for name, content in files:
        made.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return made.as_bytes(policy=policy.SMTP)
