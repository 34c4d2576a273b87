"""How soon a mailbox may send again: its rate, and a pause after a failure of its server."""

from collections import Counter, deque

from sealdesk.mail.sending import rules
from sealdesk.mail.sending.types import DueMailbox

_MINUTE_US = 60_000_000


class Pace:
    """What one process remembers of the mailboxes that it sends for."""

    def __init__(self) -> None:
        self._sent_at: dict[str, deque[int]] = {}
        self._failures: Counter[str] = Counter()
        self._paused: dict[str, tuple[int, int]] = {}  # mailbox → until when, and its version

    def room(self, mailbox_id: str, per_minute: int, now_us: int) -> int:
        """How many messages the mailbox may send now."""
        sent = self._sent_at.setdefault(mailbox_id, deque())
        while sent and sent[0] <= now_us - _MINUTE_US:
            sent.popleft()
        return max(0, per_minute - len(sent))

    def note_sent(self, mailbox_id: str, now_us: int) -> None:
        self._sent_at.setdefault(mailbox_id, deque()).append(now_us)

    def may_begin(self, mailbox: DueMailbox, now_us: int) -> bool:
        """Whether it may connect: after a failure later, unless its settings were changed since."""
        until_us, version = self._paused.get(mailbox.id, (0, mailbox.version))
        is_paused = now_us < until_us and version == mailbox.version
        return not is_paused and self.room(mailbox.id, mailbox.per_minute, now_us) > 0

    def note_failure(self, mailbox: DueMailbox, now_us: int) -> None:
        self._failures[mailbox.id] += 1
        pause_us = rules.pause_us(self._failures[mailbox.id])
        self._paused[mailbox.id] = now_us + pause_us, mailbox.version

    def note_success(self, mailbox_id: str) -> None:
        self._failures.pop(mailbox_id, None)
        self._paused.pop(mailbox_id, None)
