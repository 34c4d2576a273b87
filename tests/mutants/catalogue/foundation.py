"""Mutants of the modules at the bottom of the layers: paging, errors, settings."""

from tests.mutants.mutant import Mutant

_WEB_PAGES = "tests/web/test_pages.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a cursor is not bound to the filters",
        "resources/paging.py",
        "changed = _changed_parameters(contents.query, listing.query)",
        "changed: list[str] = []",
        ("tests/spec/test_4_3_pagination.py::test_4_3_4_a_cursor_is_refused_with_another_query",),
    ),
    Mutant(
        "a cursor is not bound to the tenant",
        "resources/paging.py",
        'return f"{listing.tenant_id} {listing.path}".encode()',
        "return listing.path.encode()",
        ("tests/test_routes.py::test_a_cursor_of_another_tenant_is_refused",),
    ),
    Mutant(
        "pages for administrators are for everybody with a log-in",
        "routes/table.py",
        "_ADMIN_PAGE = SessionGuard(ADMINISTRATORS)",
        "_ADMIN_PAGE = SessionGuard(ROLES)",
        (f"{_WEB_PAGES}::test_an_agent_gets_an_error_page_on_pages_for_administrators",),
    ),
    Mutant(
        "a page has no limit of bytes",
        "resources/paging.py",
        "    while size_bytes > page.max_bytes and len(taken) > 1:\n",
        "    while False:\n",
        (
            "tests/web/test_large_pages.py::test_a_page_of_tickets_ends_early_at_one_mebibyte",
            "tests/web/test_large_pages.py::test_a_page_of_customers_ends_early_at_one_mebibyte",
        ),
    ),
    Mutant(
        "an item that is larger than a page is not sent",
        "resources/paging.py",
        "size_bytes > page.max_bytes and len(taken) > 1:\n",
        "size_bytes > page.max_bytes and taken:\n",
        (
            "tests/web/test_large_pages.py"
            "::test_a_page_of_events_ends_early_and_has_one_event_at_least",
        ),
    ),
    Mutant(
        "a cursor from before a restore is accepted",
        "resources/paging.py",
        "    if contents.epoch != listing.epoch:\n",
        "    if contents.epoch > listing.epoch:\n",
        (
            "tests/cli/test_backup.py"
            "::test_a_restored_service_has_what_was_acknowledged_and_nothing_revoked_works",
        ),
    ),
)
