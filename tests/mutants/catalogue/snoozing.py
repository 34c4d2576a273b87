"""Mutants of `tickets.snoozing` and `tickets.followers`."""

from tests.mutants.mutant import Mutant

_FOLLOWERS = "tests/tickets/followers/test_followers.py"
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
        (f"{_SNOOZING}::test_a_ticket_that_was_changed_since_it_was_read_is_not_woken_as_it_was",),
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
    Mutant(
        "a deactivated follower is told",
        "tickets/followers/store.py",
        " AND u.is_active",
        "",
        (f"{_FOLLOWERS}::test_a_deactivated_follower_is_neither_told_nor_shown",),
    ),
    Mutant(
        "followers are told of what they do themselves",
        "tickets/notifications/notify.py",
        "[each.id for each in listed if each.id != caller.actor.id]",
        "[each.id for each in listed]",
        (f"{_FOLLOWERS}::test_followers_are_told_of_replies_notes_and_status_changes_by_others",),
    ),
    Mutant(
        "a ticket has any number of followers",
        "tickets/followers/store.py",
        " AND follower_count < :most",
        "",
        (f"{_FOLLOWERS}::test_a_ticket_has_a_bounded_number_of_followers",),
    ),
    Mutant(
        "a tenant whose snoozes end wakes all of them first",
        "tickets/snoozing/store.py",
        ") e ORDER BY turn, snoozed_until",
        ") e ORDER BY snoozed_until",
        (
            "tests/tickets/snoozing/test_snoozing.py"
            "::test_a_tenant_with_many_ended_snoozes_delays_no_other",
        ),
    ),
    Mutant(
        "a follower is told of a reply and of the status that it sets",
        "tickets/notifications/notify.py",
        " or ticket.last_message_at == now_us:",
        " or ticket.last_message_at == -1:",
        ("tests/tickets/followers/test_followers.py::test_a_reply_that_resolves_is_told_once",),
    ),
)
