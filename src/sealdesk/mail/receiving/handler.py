"""What the receiver does on the commands of a session: recipients and messages."""

import asyncio
import logging
from typing import Any

from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.mailboxes.store import directory, mailboxes
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.receiving import arrivals, authors
from sealdesk.mail.receiving.types import Arrival, WaitingFull
from sealdesk.state import AppState

MAX_RECIPIENTS = 100
_OK = "250 2.0.0 Taken"
_UNKNOWN = "550 5.1.1 There is no such mailbox here"
_PAUSED = "450 4.2.1 The mailbox is paused, try again later"
_TOO_MANY = "452 4.5.3 Too many recipients"
_LATER = "451 4.3.0 The message cannot be stored now, try again later"
_WAITING_FULL = "452 4.2.2 Too many messages wait for a decision, try again later"
_NULL_SENDER = "<>"
# As the server of the mailbox writes it (RFC 5321, 4.4): so reports are read as those that come by
# IMAP, whoever their From names.
_NULL_PATH = b"Return-Path: <>\r\n"

log = logging.getLogger("sealdesk.mail")


class Handler:
    """The hooks of aiosmtpd. running: messages that are being received."""

    def __init__(self, state: AppState) -> None:
        self._state = state
        self.running: set[asyncio.Task[Any]] = set()

    async def handle_EHLO(
        self, server: Any, session: Any, envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        return [each for each in responses if not each.startswith("250-AUTH")]

    async def handle_AUTH(self, *_: Any) -> str:
        return "502 5.5.1 There is no log-in here"

    async def handle_VRFY(self, *_: Any) -> str:
        return "252 2.1.5 Send a message to find out"

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if len(envelope.rcpt_tos) >= MAX_RECIPIENTS:
            return _TOO_MANY
        if not address.isprintable():  # also a byte that is no UTF-8
            return _UNKNOWN
        try:
            mailbox = await self._find_mailbox(address)
        except ServiceUnavailable:
            return _LATER
        if mailbox is None or mailbox.receives != "smtp":
            return _UNKNOWN
        if mailbox.is_paused:
            return _PAUSED
        envelope.rcpt_tos.append(address)
        # The envelope of aiosmtpd has no place for it.
        envelope.mailboxes = [*getattr(envelope, "mailboxes", []), mailbox]
        return "250 2.1.5 OK"

    async def _find_mailbox(self, address: str) -> Mailbox | None:
        forms = authors.forms_of(address)

        async def work(tx: Tx) -> Mailbox | None:
            for at, identity in enumerate(forms):
                if place := await directory.find(tx, identity):
                    # What another desk had, such as `help+orders@`, is nobody's.
                    former = await directory.find_tenants(tx, forms[:at])
                    if not set(former.values()) <= {place.tenant_id}:
                        return None
                    await tx.set_tenant(place.tenant_id)
                    return await mailboxes.find(tx, place.tenant_id, place.mailbox_id)
            return None

        return await self._state.database.read(work)

    async def deliver(self, envelope: Any, raw: bytes) -> list[str]:
        """Deliver a message to each mailbox; an answer for each recipient, in their order."""
        sender = "" if envelope.mail_from == _NULL_SENDER else envelope.mail_from
        raw = raw if sender else _NULL_PATH + raw
        recipients = list(zip(envelope.rcpt_tos, envelope.mailboxes, strict=True))
        answers: dict[str, str] = {}
        for _, mailbox in recipients:
            if mailbox.id in answers:
                continue
            addresses = tuple(to for to, each in recipients if each.id == mailbox.id)
            answers[mailbox.id] = await self._deliver_to(mailbox, Arrival(raw, addresses, sender))
        return [answers[mailbox.id] for _, mailbox in recipients]

    async def _deliver_to(self, mailbox: Mailbox, arrival: Arrival) -> str:
        task = asyncio.create_task(arrivals.receive(self._state, mailbox, arrival))
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        try:
            # A client that goes away ends its session, not the transaction.
            await asyncio.shield(task)
        except WaitingFull:
            return self._refuse(mailbox, "waiting_full", _WAITING_FULL)
        except ServiceUnavailable as error:
            if isinstance(error.__cause__, OSError):  # the files of messages, as on a full disk
                self._state.database.health.note_failed_write()
            return self._refuse(mailbox, "unavailable", _LATER, repr(error.__cause__ or error))
        except Exception:
            log.exception("a message could not be received", extra={"mailbox": mailbox.id})
            return self._refuse(mailbox, "fault", _LATER)
        return _OK

    def _refuse(self, mailbox: Mailbox, reason: str, answer: str, cause: str = "") -> str:
        extra = {"mailbox": mailbox.id, "reason": reason, "cause": cause}
        log.warning("a message was refused for now", extra=extra)
        self._state.metrics.count_refused_mail(reason)
        return answer

    async def handle_exception(self, error: Exception) -> str:
        if not isinstance(error, TimeoutError):
            log.error("a session of the mail receiver failed", exc_info=error)
        return _LATER
