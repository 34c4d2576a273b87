"""Mutants of `customers`."""

from tests.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a customer that has changed since is deleted",
        "customers/actions.py",
        "    representation.check_match(if_match, rules.etag(customer))\n"
        "    if not await store.delete_without_tickets(",
        "    if not await store.delete_without_tickets(",
        (
            "tests/customers/test_deleting.py::test_a_customer_that_has_changed_since_is_not_deleted",
        ),
    ),
    Mutant(
        "customers are listed without their tenant",
        "customers/store.py",
        'conditions = ["tenant_id = :tenant_id"]',
        "conditions = [\":tenant_id <> ''\"]",
        ("tests/test_routes.py::test_a_key_of_another_tenant_finds_no_data_of_this_tenant",),
    ),
    Mutant(
        "wildcards in a search for customers are not escaped",
        "customers/store.py",
        '_LIKE_WILDCARD.sub(r"\\\\\\g<0>", variant)',
        "variant",
        ("tests/customers/test_pages.py::test_parts_of_words_find_customers",),
    ),
    Mutant(
        "an outdated form overwrites a customer",
        "customers/pages.py",
        "if_match=(etag,)",
        "if_match=None",
        (
            "tests/customers/test_pages.py::test_saving_an_outdated_form_shows_the_changes_of_others",
        ),
    ),
    Mutant(
        "a search for parts of words scans all customers",
        "customers/actions.py",
        "newest=None if ids_found is None else _MAX_SCANNED",
        "newest=None",
        (
            "tests/customers/test_pages.py::test_parts_of_words_are_searched_in_the_newest_customers_or_in_all_without_an_index",
        ),
    ),
    Mutant(
        "a deleted customer is still found by the search",
        "search/store/customers.py",
        ', "customer.deleted"',
        "",
        ("tests/customers/test_deleting.py::test_a_deleted_customer_is_gone_and_the_feed_tells",),
    ),
    Mutant(
        "a customer is deleted although they have tickets",
        "customers/store.py",
        "AND t.customer_id = :id)",
        "AND t.customer_id = '')",
        ("tests/customers/test_deleting.py::test_a_customer_with_a_ticket_stays",),
    ),
)
