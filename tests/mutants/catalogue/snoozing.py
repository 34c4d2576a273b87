"""Mutants of `tickets.snoozing`."""

from tests.mutants.mutant import Mutant

_SNOOZING = "tests/tickets/snoozing/test_snoozing.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a reply of the customer leaves a ticket asleep",
        "tickets/rules.py",
        'return fields | told | {"snoozed_until": None}',
        "return fields | told",
        (f"{_SNOOZING}::test_a_reply_of_the_customer_wakes_a_ticket_at_once",),
    ),
    Mutant(
        "a resolved ticket stays asleep",
        "tickets/rules.py",
        '"resolved_at": now_us, "waiting_since": None, "snoozed_until": None',
        '"resolved_at": now_us, "waiting_since": None',
        (f"{_SNOOZING}::test_resolving_and_closing_wake_a_ticket",),
    ),
    Mutant(
        "the worker wakes a ticket whose snooze was put off or has ended",
        "tickets/snoozing/waking.py",
        "stored is None or not rules.is_over(stored.ticket.snoozed_until, now_us)",
        "stored is None",
        (
            f"{_SNOOZING}::test_a_ticket_whose_end_was_put_off_meanwhile_stays_asleep",
            f"{_SNOOZING}::test_two_workers_wake_a_ticket_once",
        ),
    ),
    Mutant(
        "a change while a snooze ends is lost",
        "tickets/snoozing/store.py",
        "WHERE tenant_id = :tenant_id AND id = :id AND version = :before",
        "WHERE tenant_id = :tenant_id AND id = :id",
        (f"{_SNOOZING}::test_a_snooze_that_ends_while_the_ticket_is_edited_loses_neither",),
    ),
    Mutant(
        "snoozed tickets stay in the inbox",
        "tickets/views/inbox_query.py",
        "True if self.snoozed else None if self.q else False",
        "True if self.snoozed else None",
        (f"{_SNOOZING}::test_a_snoozed_ticket_is_in_the_view_snoozed_and_in_the_search_only",),
    ),
    Mutant(
        "a ticket can be snoozed for ever",
        "tickets/snoozing/rules.py",
        "at_us > now_us + _MAX_US",
        "at_us < now_us",
        (f"{_SNOOZING}::test_the_end_of_a_snooze_is_a_time_within_a_year",),
    ),
)
