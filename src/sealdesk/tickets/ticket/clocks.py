"""The clocks of a ticket: how much of each promised time is used, and when it is over."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from sealdesk import clock
from sealdesk.clock import Iso
from sealdesk.ids import Id

Target = Literal["first_response", "next_response", "resolution"]
TARGETS: tuple[Target, ...] = ("first_response", "next_response", "resolution")
AlertKind = Literal["ticket.sla_warning", "ticket.sla_breached"]
WARNED, BREACHED = 1, 2


class Clock(msgspec.Struct, frozen=True, array_like=True):
    """The clock of one target.

    minutes: promised. spent_us: used before it last began to run. since_us: when that was; None
    while it stands still, and then nothing is due. told: what was announced, 0 for nothing.
    """

    minutes: int
    spent_us: int = 0
    since_us: int | None = None
    due_us: int | None = None
    warn_us: int | None = None
    told: int = 0

    def next_alert_us(self) -> int | None:
        """When the next announcement is due; None if there is none."""
        if self.told < WARNED and self.warn_us is not None:
            return self.warn_us
        return self.due_us if self.told < BREACHED else None


class Due(msgspec.Struct, frozen=True):
    """By when a policy promises what; null for what is done, is not promised, or is paused."""

    policy_id: Id
    first_response: Iso | None
    next_response: Iso | None
    resolution: Iso | None

    def times(self) -> list[tuple[str, Target]]:
        """What is due when, the first of it first."""
        times = [(getattr(self, target), target) for target in TARGETS]
        return sorted((at, target) for at, target in times if at is not None)


class Alert(NamedTuple):
    """An announcement that is due."""

    kind: AlertKind
    target: Target
    due_us: int


class Clocks(msgspec.Struct, frozen=True, omit_defaults=True):
    """The clocks of a ticket, by the policy that was the first to match."""

    policy_id: str
    first_response: Clock | None = None
    next_response: Clock | None = None
    resolution: Clock | None = None

    def each(self) -> Iterator[tuple[Target, Clock]]:
        """The clocks that there are."""
        for target in TARGETS:
            found: Clock | None = getattr(self, target)
            if found is not None:
                yield target, found

    def is_kept(self, target: Target) -> bool | None:
        """Whether nothing was late for what has an end now; None if it was not promised."""
        found: Clock | None = getattr(self, target)
        return None if found is None else found.told < BREACHED

    def due(self) -> Due | None:
        """As the API shows them; None if nothing is due."""
        clocks = (self.first_response, self.next_response, self.resolution)
        times = [clock.iso_or_none(each.due_us) if each else None for each in clocks]
        return Due(self.policy_id, *times) if any(times) else None

    def due_us(self) -> int | None:
        """What is due first."""
        return min((each.due_us for _, each in self.each() if each.due_us), default=None)

    def alert_us(self) -> int | None:
        """When something is to be announced next."""
        times = [each.next_alert_us() for _, each in self.each()]
        return min((at for at in times if at is not None), default=None)


def told(clocks: Clocks, at: int) -> tuple[Clocks, list[Alert]]:
    """The clocks after what is due for announcement by then, and that, in order of time."""
    found: list[tuple[int, Alert]] = []
    changed: dict[str, Clock] = {}
    for target, before in clocks.each():
        last = before
        while (alert_us := last.next_alert_us()) is not None and alert_us <= at:
            level = WARNED if last.told < WARNED and last.warn_us is not None else BREACHED
            kind: AlertKind = "ticket.sla_warning" if level == WARNED else "ticket.sla_breached"
            found.append((alert_us, Alert(kind, target, last.due_us or alert_us)))
            last = changed[target] = msgspec.structs.replace(last, told=level)
    alerts = [alert for _, alert in sorted(found)]
    return msgspec.structs.replace(clocks, **changed), alerts
