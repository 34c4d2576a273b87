"""Mutants of `tickets.merging`."""

from tests.mutants.mutant import Mutant

_MERGING = "tests/tickets/merging/test_merging.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "tickets can be merged in a circle",
        "tickets/merging/rules.py",
        "source.merged_into_id is not None or target.merged_into_id is not None",
        "source.merged_into_id is not None",
        (f"{_MERGING}::test_tickets_cannot_be_merged_in_a_circle",),
    ),
    Mutant(
        "a ticket can be merged into itself",
        "tickets/merging/rules.py",
        "source.id == target.id",
        "source is target",
        (f"{_MERGING}::test_a_ticket_cannot_be_merged_into_itself",),
    ),
    Mutant(
        "a merge can always be undone",
        "tickets/merging/rules.py",
        "return now_us - merge.merged_at >= UNDO_US",
        "return False",
        (f"{_MERGING}::test_a_merge_is_final_after_a_day",),
    ),
    Mutant(
        "a merge is undone though the other ticket was merged or split since",
        "tickets/merging/actions.py",
        "target_id, stored.opening_reply_id):\n        raise",
        "target_id, stored.opening_reply_id) and False:\n        raise",
        (
            f"{_MERGING}::test_a_later_merge_is_undone_first",
            f"{_MERGING}::test_a_merge_whose_description_was_split_off_cannot_be_undone",
        ),
    ),
    Mutant(
        "an internal note becomes the description of a new ticket",
        "tickets/merging/actions.py",
        "found is not None and not found.is_internal",
        "found is not None",
        (f"{_MERGING}::test_only_a_public_reply_of_the_ticket_begins_a_new_one",),
    ),
)
