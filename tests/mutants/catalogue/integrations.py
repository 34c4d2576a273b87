"""Mutants of what integrators ask for: search, bulk requests, `include`, upsert."""

from tests.mutants.mutant import Mutant

_BULK = "tests/tickets/test_bulk_api.py"
_SEARCH = "tests/tickets/test_search_api.py"
_INCLUDE = "tests/tickets/test_include.py"
_UPSERT = "tests/customers/test_upsert.py"
_PLANS = "tests/tickets/test_plans.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a key that reads only tickets guesses phone numbers by searching",
        "tickets/views/search_filters.py",
        "    inclusion.check_reads_customers(request.caller)\n",
        "",
        (f"{_SEARCH}::test_only_keys_that_read_customers_search_by_them",),
    ),
    Mutant(
        "a bulk request chooses times without import:write",
        "tickets/bulk/api.py",
        "NewTicket if IMPORT in request.caller.may else TicketBody",
        "NewTicket if IMPORT else TicketBody",
        (f"{_BULK}::test_a_key_that_may_not_import_chooses_no_times",),
    ),
    Mutant(
        "a bulk request with the Idempotency-Key of another body is half written",
        "web/bulk.py",
        "            if not self._has_begun:",
        "            if self._has_begun is None:",
        (f"{_BULK}::test_with_the_idempotency_key_of_another_body_nothing_is_written",),
    ),
    Mutant(
        "the items of a bulk request share one stored response",
        "web/bulk.py",
        'scope=f"{self._once.scope} #{place}"',
        'scope=f"{self._once.scope} #{place * 0}"',
        (f"{_BULK}::test_sent_again_a_request_continues_where_it_was_interrupted",),
    ),
    Mutant(
        "each item of a bulk request uses up the signature",
        "web/bulk.py",
        "        self._is_proven = self._is_proven or not refusals\n",
        "",
        (f"{_BULK}::test_a_signature_is_used_up_by_the_whole_request",),
    ),
    Mutant(
        "a bulk request costs a key as much as one item",
        "web/application.py",
        "    if key_budget is not None and request.write_count > 1:",
        "    if key_budget is not None and request.write_count > 1000:",
        (f"{_BULK}::test_each_item_counts_as_a_request_of_the_key",),
    ),
    Mutant(
        "behind a ticket that is found by its number the search skips newer ones",
        "tickets/views/searching.py",
        "    if last_id != found.numbered_id:\n",
        "    if last_id:\n",
        (f"{_SEARCH}::test_a_ticket_comes_first_by_its_number_and_no_second_time",),
    ),
    Mutant(
        "a key that may not read customers gets them included",
        "tickets/inclusion.py",
        "and _NEEDED not in caller.may:\n",
        "and not caller.may:\n",
        (f"{_INCLUDE}::test_a_customer_is_included_for_keys_that_may_read_them",),
    ),
    Mutant(
        "an upsert takes the customer of another external_id",
        "customers/actions.py",
        "    if not found and customer.external_id is not None:\n",
        "    if not found and customer.external_id == external_id:\n",
        (f"{_UPSERT}::test_the_customer_with_the_address_gets_the_external_id",),
    ),
    Mutant(
        "a signature of a PUT is good for ever",
        "api_keys/guard/signed.py",
        '_WRITES = ("POST", "PUT", "PATCH", "DELETE")',
        '_WRITES = ("POST", "PATCH", "DELETE")',
        (f"{_UPSERT}::test_a_signature_of_a_put_is_good_for_one_use",),
    ),
    Mutant(
        "a ticket is looked up by its number among those of a tag",
        "tickets/store/selection.py",
        " or filters.is_snoozed or filters.number is not None:",
        " or filters.is_snoozed:",
        (f"{_PLANS}::test_the_ticket_of_a_number_is_found_by_it_in_every_order",),
    ),
)
