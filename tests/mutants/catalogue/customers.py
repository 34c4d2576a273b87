"""Mutants of `customers`."""

from tests.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
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
)
