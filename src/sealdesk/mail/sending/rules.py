"""Retries, Message-IDs, and the state of a reply that several messages carry; no I/O."""

import hashlib
import re
from collections.abc import Iterable, Sequence

from sealdesk.mail.parsing.types import DeliveryStatus
from sealdesk.mail.sending.types import Outcome, OutgoingMessage, State
from sealdesk.mail.servers import ProblemCode
from sealdesk.resources.representation import with_ascii_domain

# After 1, 5, 15 and 60 minutes, 3, 6, 12, 24 and 24 hours: over three days as for webhooks.
_RETRIES_S = (60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 24 * 3600)
_WORST_FIRST: tuple[State, ...] = ("failed", "bounced", "queued", "sent")
_SECOND_US = 1_000_000
_GIVE_UP_US = 3 * 24 * 3600 * _SECOND_US
_PAUSES_S = (5, 15, 60, 300)
_FULL, _CLOSING = (452, 552), 421  # RFC 5321, 4.2.3
_TOO_LARGE = re.compile(r"\b[45]\.(?:3\.4|2\.3)\b")  # RFC 3463: of the message, not of the quota
ACKNOWLEDGED_DAY_US = 24 * 3600 * _SECOND_US
_ACKNOWLEDGED_HOUR_US = 3600 * _SECOND_US
MAX_ACKNOWLEDGED = 5  # of one address in a day; one in an hour
_MAX_REASON = 2000
MAX_REFERENCES = 20
# What answers begin with in the languages of the most used mail programs.
_ANSWER = re.compile(
    r"\s*(?:re|aw|sv|antw|odp|vá|ynt|回复|回覆|답장)(?:\[\d+\])?\s*[:\uff1a]\s*",
    re.IGNORECASE,
)


_NUMBER = re.compile(r" \[#\d+\]$")


def message_id(about_id: str, token: str, mailbox_address: str) -> str:
    """The Message-ID of a message to one participant: the same whenever it is sent.

    Others cannot compute it without the token, so they cannot report it as undelivered.
    """
    recipient = hashlib.sha256(token.encode()).hexdigest()[:16]
    return f"<{about_id}.{recipient}@{with_ascii_domain(mailbox_address).rpartition('@')[2]}>"


def references(
    conversation: Iterable[tuple[str | None, str]], token: str, mailbox_address: str
) -> tuple[str, ...]:
    """The Message-IDs of a conversation, which a participant with this token knows.

    The last one that was received is the last, as the one that is answered (RFC 5322, 3.6.4).
    """
    received, found = "", list[str]()
    for key, reply_id in conversation:
        is_sent = key is None
        each = message_id(reply_id, token, mailbox_address) if is_sent else _id_of_key(key or "")
        received = received if is_sent else each or received
        found += [each] if each else []
    chain = [each for each in dict.fromkeys(found) if each != received]
    return (*chain, *([received] if received else []))[-MAX_REFERENCES:]


def _id_of_key(key: str) -> str:
    """The Message-ID in the key of a received message, "" if it has none."""
    first = key.partition(" ")[0].strip("<>")
    return f"<{first}>" if "@" in first and first.isprintable() and first.isascii() else ""


def subject_of_answer(subject: str) -> str:
    """The customer's words behind one `Re:`."""
    bare = subject
    while (found := _ANSWER.match(bare)) is not None and found.end() < len(bare):
        bare = bare[found.end() :]
    return f"Re: {bare}"


def numbered(subject: str, number: int) -> str:
    """A subject with the number of the ticket, in place of that of one before it."""
    return f"{_NUMBER.sub('', subject)} [#{number}]"


def next_attempt_at(attempt_count: int, now_us: int) -> int | None:
    """When to try again after so many failed attempts; None after the last."""
    if attempt_count > len(_RETRIES_S):
        return None
    return now_us + _RETRIES_S[attempt_count - 1] * _SECOND_US


def due_again_at(message: OutgoingMessage, now_us: int, *, is_attempt: bool) -> int | None:
    """When a message that was not sent is due again; None if it is given up.

    is_attempt: otherwise the mailbox could not send at all, and it is due when it can.
    """
    if is_attempt:
        return next_attempt_at(message.attempt_count + 1, now_us)
    return message.due_at if now_us < message.created_at + _GIVE_UP_US else None


def pause_us(failures: int) -> int:
    """How long a mailbox whose server failed so often in a row does not connect."""
    return _PAUSES_S[min(failures, len(_PAUSES_S)) - 1] * _SECOND_US


def problem_of_refusal(code: int, answer: str) -> ProblemCode | None:
    """What is wrong with the mailbox if its server refuses so; None if it is the message."""
    if code in _FULL and not _TOO_LARGE.search(answer):
        return "quota_full"
    return "not_reachable" if code == _CLOSING else None


def outcome_of_refusal(code: int, answer: str, *, of_recipient: bool) -> Outcome:
    """What a server's refusal means: 4xx is tried again, 5xx is final (RFC 5321, 4.2.1)."""
    reason = f"The mail server answered {code}: {answer}"
    if code < 500:
        return Outcome("queued", reason)
    return Outcome("bounced" if of_recipient else "failed", reason)


def may_acknowledge(sent_at: Sequence[int], now_us: int) -> bool:
    """Whether an address may get an acknowledgement. sent_at: of those in the last day."""
    is_recent = any(each > now_us - _ACKNOWLEDGED_HOUR_US for each in sent_at)
    return not is_recent and len(sent_at) < MAX_ACKNOWLEDGED


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """That of a reply with messages of these outcomes."""
    return min(outcomes, key=lambda each: _WORST_FIRST.index(each.state))


def reason_of_report(status: DeliveryStatus) -> str:
    """Why a message came back, as a report says it."""
    return " ".join(f"{status.status} {status.text}".split())[:_MAX_REASON].strip()


def not_delivered(address: str, reason: str) -> str:
    """The note about a message that was not delivered."""
    return f"A message to {address} was not delivered. {reason}".strip()


def complained(address: str) -> str:
    """The note about a message that its recipient calls spam."""
    return f"{address} has marked a message of this ticket as spam. Do not write again unasked."
