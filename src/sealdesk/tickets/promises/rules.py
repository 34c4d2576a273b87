"""Which SLA policy a ticket has, and what its clocks show; no IO."""

from collections.abc import Sequence

import msgspec

from sealdesk.errors import Fault, gettext_noop
from sealdesk.resources.identity import identity
from sealdesk.resources.representation import email_identity
from sealdesk.tickets.hours import rules as hours_rules
from sealdesk.tickets.hours.types import Hours
from sealdesk.tickets.promises.types import Policy, Promises
from sealdesk.tickets.ticket.clocks import BREACHED, TARGETS, WARNED, Clock, Clocks, Target
from sealdesk.tickets.ticket.types import ENDED, Ticket

MINUTE_US = hours_rules.MINUTE_US
CONDITIONS = ("priorities", "team_ids", "tags", "customers")
CHANGED = (
    *("name", "position", *CONDITIONS),
    *(f"{target}_minutes" for target in TARGETS),
    *("counts", "pauses_on", "warning_minutes"),
)
_NO_TARGET = gettext_noop("Promise at least one of the three.")
_NO_HOURS = gettext_noop("The desk has no business hours yet. Set them first, or count all hours.")
_NEVER = gettext_noop("By the business hours and holidays, this would not be due in three months.")
_TOO_EARLY = gettext_noop("A warning must come later than the shortest of the promises begins.")
_NO_CUSTOMER = gettext_noop("Write e-mail addresses, or domains as in @example.com.")
_COVERED = gettext_noop("The policy “%(name)s” comes before and has all of these tickets.")
_COVERS = gettext_noop("The policy “%(name)s” comes behind and would have no tickets any more.")


def minutes_of(policy: Policy, target: Target) -> int | None:
    """What the policy promises."""
    found: int | None = getattr(policy, f"{target}_minutes")
    return found


def find_policy(policies: Sequence[Policy], ticket: Ticket, email: str) -> Policy | None:
    """The first policy that matches."""
    return next((each for each in policies if _matches(each, ticket, email)), None)


def _matches(policy: Policy, ticket: Ticket, email: str) -> bool:
    if policy.priorities and ticket.priority not in policy.priorities:
        return False
    if policy.team_ids and ticket.team_id not in policy.team_ids:
        return False
    if policy.tags and {*map(identity, policy.tags)}.isdisjoint(map(identity, ticket.tags)):
        return False
    return not policy.customers or any(_is_of(email, each) for each in policy.customers)


def _is_of(email: str, customer: str) -> bool:
    wanted, address = email_identity(customer), email_identity(email)
    return address.endswith(wanted) if wanted.startswith("@") else address == wanted


def clocks_at(ticket: Ticket, email: str, promises: Promises, at: int) -> Clocks | None:
    """The clocks of a ticket after what happened to it at a time; None without a policy.

    A clock goes on by the policy and the hours of now: those of its team, or of the desk. What it
    showed before it stood still stays as it was counted.
    """
    policy = find_policy(promises.policies, ticket, email)
    if policy is None:
        return None
    before = ticket.clocks or Clocks(policy.id)
    hours = None
    if policy.counts == "business":
        hours = promises.of_teams.get(ticket.team_id or "", promises.hours)
    return Clocks(
        policy.id,
        **{
            each: _clock(each, getattr(before, each), ticket, policy, hours, at) for each in TARGETS
        },
    )


def silenced(clocks: Clocks, at: int) -> Clocks:
    """The same clocks; what is over already is not announced."""

    def quiet(each: Clock) -> Clock:
        if each.due_us is not None and each.due_us <= at:
            return msgspec.structs.replace(each, told=BREACHED)
        if each.warn_us is not None and each.warn_us <= at:
            return msgspec.structs.replace(each, told=max(each.told, WARNED))
        return each

    return msgspec.structs.replace(clocks, **{name: quiet(each) for name, each in clocks.each()})


def with_clocks(ticket: Ticket, clocks: Clocks | None) -> Ticket:
    """The ticket with its clocks, and the columns that follow from them."""
    if clocks == ticket.clocks:
        return ticket
    if clocks is None:
        return msgspec.structs.replace(ticket, clocks=None, due=None, due_at=None, alert_at=None)
    return msgspec.structs.replace(
        ticket,
        clocks=clocks,
        due=clocks.due(),
        due_at=clocks.due_us(),
        alert_at=clocks.alert_us(),
    )


def _clock(
    target: Target,
    before: Clock | None,
    ticket: Ticket,
    policy: Policy,
    hours: Hours | None,
    at: int,
) -> Clock | None:
    minutes, start = minutes_of(policy, target), _start(target, before, ticket)
    if target == "first_response" and start is None and minutes and before:
        return _stop(before, hours, at)  # which still says whether it was in time
    if minutes is None or start is None:
        return None
    clock = before or Clock(minutes, since_us=start)
    if clock.minutes != minutes:
        clock = msgspec.structs.replace(clock, minutes=minutes)
    if clock.since_us is not None:
        running = _run(clock, clock.since_us, policy, hours)
        is_promised_anew = running.due_us != clock.due_us and (running.due_us or at + 1) > at
        is_told_anew = is_promised_anew and running.told
        clock = msgspec.structs.replace(running, told=0) if is_told_anew else running
    if ticket.status in ENDED:
        return _stop(clock, hours, at)
    if ticket.status in policy.pauses_on:
        # What is late is not paused, and goes on being late.
        is_late = clock.due_us is not None and clock.due_us <= at
        return clock if is_late else _stop(clock, hours, at)
    return clock if clock.since_us is not None else _run(clock, at, policy, hours)


def _start(target: Target, before: Clock | None, ticket: Ticket) -> int | None:
    """Since when the ticket waits for it; None if it does not."""
    if target == "resolution":
        return ticket.created_at
    if target == "first_response":
        return ticket.created_at if ticket.first_response_at is None else None
    if before is not None and ticket.status in ENDED and ticket.last_reply_by == "customer":
        return ticket.last_customer_reply_at  # who waits again if the ticket is reopened
    return None if ticket.first_response_at is None else ticket.waiting_since


def _run(clock: Clock, since_us: int, policy: Policy, hours: Hours | None) -> Clock:
    left_us = max(0, clock.minutes * MINUTE_US - clock.spent_us)
    due_us, warn_us = _after(hours, since_us, left_us), None
    if policy.warning_minutes and due_us is not None:
        warn_us = _after(hours, since_us, max(0, left_us - policy.warning_minutes * MINUTE_US))
    return msgspec.structs.replace(clock, since_us=since_us, due_us=due_us, warn_us=warn_us)


def _stop(clock: Clock, hours: Hours | None, at: int) -> Clock:
    if clock.since_us is None:
        return clock
    end = max(at, clock.since_us)
    used = hours_rules.worked_us(hours, clock.since_us, end) if hours else end - clock.since_us
    spent_us = min(clock.minutes * MINUTE_US, clock.spent_us + used)
    return Clock(clock.minutes, spent_us, told=clock.told)


def _after(hours: Hours | None, start_us: int, left_us: int) -> int | None:
    if hours is None or not left_us:
        return start_us + left_us
    return hours_rules.instant_after(hours, start_us, left_us)


def find_faults(
    policy: Policy, others: Sequence[Policy], hours: Sequence[Hours], now_us: int
) -> list[Fault]:
    """What is wrong with a policy among the others, which are in their order.

    hours: of the desk and of the policy's teams; none if the desk has none.
    """
    targets = [(each, minutes_of(policy, each)) for each in TARGETS]
    promised = {each: minutes for each, minutes in targets if minutes is not None}
    if not promised:
        return [Fault("/first_response_minutes", "required", _NO_TARGET)]
    faults = [
        Fault(f"/customers/{at}", "invalid_value", _NO_CUSTOMER)
        for at, each in enumerate(policy.customers)
        if "@" not in each
    ]
    if policy.warning_minutes >= min(promised.values()):
        faults.append(Fault("/warning_minutes", "too_early", _TOO_EARLY))
    if policy.counts == "business" and not hours:
        faults.append(Fault("/counts", "no_business_hours", _NO_HOURS))
    elif policy.counts == "business":
        faults += [
            Fault(f"/{each}_minutes", "never_due", _NEVER)
            for each in promised
            if any(is_never_due(policy, each, of, now_us) for of in hours)
        ]
    for other in others:
        if other.position < policy.position and covers(other, policy):
            faults.append(Fault("/position", "overlapping", _COVERED, {"name": other.name}))
        elif other.position >= policy.position and covers(policy, other):
            faults.append(Fault("/position", "overlapping", _COVERS, {"name": other.name}))
    return faults


def is_never_due(policy: Policy, target: Target, hours: Hours, now_us: int) -> bool:
    """Whether what a policy promises is not due in three months of business hours."""
    minutes = minutes_of(policy, target)
    return minutes is not None and hours_rules.deadline(hours, now_us, minutes) is None


def covers(policy: Policy, other: Policy) -> bool:
    """Whether one policy matches every ticket that the other one matches."""
    return all(
        not (wanted := _compared(policy, name))
        or ((having := _compared(other, name)) and having <= wanted)
        for name in CONDITIONS
    )


def _compared(policy: Policy, name: str) -> set[str]:
    return {*map(email_identity if name == "customers" else identity, getattr(policy, name))}


def place(policy: Policy, others: Sequence[Policy], wanted: int | None) -> int:
    """The position of a policy among the others: that wanted, else where it can match."""
    if wanted is not None:
        return min(wanted, len(others) + 1)
    return next((at for at, each in enumerate(others, 1) if covers(each, policy)), len(others) + 1)
