"""Mutants of `search`."""

from tests.mutants.mutant import Mutant

_SEARCH = "tests/search/test_search.py"
_CUSTOMER_SEARCH = "tests/search/test_customers.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a word that was taken out of a ticket still finds it",
        "search/store/documents.py",
        '        await tx.enqueue(index.remove_words, {**document, "words": stored["words"]})\n',
        "",
        (f"{_SEARCH}::test_a_step_ends_when_enough_is_written_and_the_next_continues",),
    ),
    Mutant(
        "a step of the search's index goes on however much it has written",
        "search/store/documents.py",
        "        if chars >= max_chars:\n",
        "        if not key:\n",
        (f"{_SEARCH}::test_a_step_ends_when_enough_is_written_and_the_next_continues",),
    ),
    Mutant(
        "a customer's new name is not heard of",
        "search/store/tickets.py",
        '    if event.type != "customer.updated":\n',
        '    if event.type != "customer.renamed":\n',
        (f"{_SEARCH}::test_a_renamed_customer_is_found_by_the_new_name_alone",),
    ),
    Mutant(
        "events that were pruned before they were read lead to no rebuild",
        "search/indexing.py",
        "        await rebuilds.store_rebuild(tx, self.name, rebuilds.START)\n",
        "        pass\n",
        (f"{_SEARCH}::test_events_that_are_pruned_before_they_are_read_lead_to_a_rebuild",),
    ),
    Mutant(
        "new tickets are indexed before the older ones that a rebuild has not reached",
        "search/indexing.py",
        "                if rebuilt is None or key <= rebuilt:\n",
        "                if True:\n",
        (f"{_SEARCH}::test_during_a_rebuild_new_tickets_are_indexed_after_older_ones",),
    ),
    Mutant(
        "a rebuild ends after its first step",
        "search/indexing.py",
        "        is_finished = written == len(keys) < limit\n",
        "        is_finished = True\n",
        (f"{_SEARCH}::test_existing_tickets_are_indexed_in_steps",),
    ),
    Mutant(
        "the search of customers hears of no changes",
        "search/store/customers.py",
        'event.type not in ("customer.created", "customer.updated", "customer.deleted")',
        'event.type != "customer.created"',
        (f"{_CUSTOMER_SEARCH}::test_a_changed_customer_is_found_only_by_the_new_values",),
    ),
    Mutant(
        "the search of customers is asked before it has been made",
        "search/store/lookup.py",
        "    return rebuilt is None or rebuilt.tenant_id > tenant_id\n",
        "    return True\n",
        (
            f"{_CUSTOMER_SEARCH}"
            "::test_existing_customers_are_indexed_in_steps_before_the_index_is_used",
        ),
    ),
    Mutant(
        "the search of customers takes whole words only",
        "search/rules.py",
        "Term((word,), is_prefix=True)",
        "Term((word,))",
        (f"{_CUSTOMER_SEARCH}::test_the_index_finds_the_same_customers_as_a_full_scan",),
    ),
    Mutant(
        "a vector has all of its long words",
        "search/rules.py",
        " if size <= _MAX_VECTOR_BYTES\n",
        " if size\n",
        (
            "tests/search/test_rules.py"
            "::test_a_vector_of_long_words_is_at_most_what_postgresql_takes",
        ),
    ),
    Mutant(
        "the marks of a text are sorted all at once",
        "search/rules.py",
        "_CHARS_AT_ONCE = 128",
        "_CHARS_AT_ONCE = 1_000_000",
        (
            "tests/test_regular_expressions.py"
            "::test_a_text_is_indexed_for_the_search_in_linear_time",
        ),
    ),
    Mutant(
        "the next page of a search begins behind what was shown, not behind what was looked at",
        "tickets/views/searching.py",
        "    if found.resumes_at and len(shown) == len(found.rows):\n",
        "    if found.resumes_at == '':\n",
        (
            "tests/tickets/test_search_api.py"
            "::test_a_page_of_the_search_ends_early_and_the_next_one_goes_on",
        ),
    ),
)
