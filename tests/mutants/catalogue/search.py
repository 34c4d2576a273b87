"""Mutants of `search`."""

from tests.mutants.mutant import Mutant

_SEARCH = "tests/search/test_search.py"
_CUSTOMER_SEARCH = "tests/search/test_customers.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a word that was taken out of a ticket still finds it",
        "search/store/queue.py",
        '        await tx.enqueue(kind.take_out, {**new, "words": kept["words"]})\n',
        "",
        (f"{_SEARCH}::test_a_step_ends_when_enough_is_written_and_the_next_goes_on",),
    ),
    Mutant(
        "a step of the search's index goes on however much it has written",
        "search/store/queue.py",
        "        if written >= signs:\n",
        "        if not about_id:\n",
        (f"{_SEARCH}::test_a_step_ends_when_enough_is_written_and_the_next_goes_on",),
    ),
    Mutant(
        "a customer's new name is not heard of",
        "search/store/tickets.py",
        '    if kind == "customer.updated":\n',
        '    if kind == "customer.renamed":\n',
        (f"{_SEARCH}::test_a_renamed_customer_is_found_by_the_new_name_alone",),
    ),
    Mutant(
        "events that were pruned too early are forgotten",
        "search/store/queue.py",
        ' or row["position"] < pruned:\n',
        ":\n",
        (f"{_SEARCH}::test_events_that_are_gone_before_they_were_looked_at_are_made_up_for",),
    ),
    Mutant(
        "the search of customers hears of no changes",
        "search/store/customers.py",
        'event["type"] in ("customer.created", "customer.updated")',
        'event["type"] == "customer.created"',
        (f"{_CUSTOMER_SEARCH}::test_who_was_changed_is_found_by_what_is_known_now_alone",),
    ),
    Mutant(
        "the search of customers is asked before it has been made",
        "search/store/lookup.py",
        'return row is not None and row["after_id"] is None',
        "return row is not None or tenant_id != ''",
        (
            f"{_CUSTOMER_SEARCH}"
            "::test_customers_of_before_are_indexed_in_steps_and_until_then_not_asked_for",
        ),
    ),
    Mutant(
        "the search of customers takes whole words only",
        "search/rules.py",
        "Term((word,), is_prefix=True)",
        "Term((word,))",
        (f"{_CUSTOMER_SEARCH}::test_whom_an_index_finds_a_look_at_everybody_would_find",),
    ),
)
