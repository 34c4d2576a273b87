"""Mutants of `tickets.custom_fields`, and of what the search and the guard know of them."""

from tests.mutants.mutant import Mutant

_TESTS = "tests/tickets/custom_fields"
_VALUES = f"{_TESTS}/test_values.py"
_PAGE = f"{_TESTS}/test_ticket_page.py"
_NEW = "tests/tickets/test_new_ticket.py"
_SEARCH = f"{_TESTS}/test_search.py"
_FIRST = f"{_VALUES}::test_a_known_key_obeys_the_first_definition_in_the_next_request"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "signed requests know of no custom fields",
        "api_keys/guard/known_keys.py",
        "has_custom_fields=has_custom_fields,",
        "has_custom_fields=False,",
        (_FIRST,),
    ),
    Mutant(
        "the first definition leaves known keys as they are",
        "db/migrations/versions/0027_field_definitions.py",
        '_CHANGES = {"added": "INSERT", "deleted": "DELETE"}',
        '_CHANGES = {"deleted": "DELETE"}',
        (_FIRST,),
    ),
    Mutant(
        "a new ticket of the page loses its custom fields",
        "tickets/pages/new_ticket.py",
        '| {"custom_fields": values}',
        '| {"custom_fields": {}}',
        (f"{_NEW}::test_custom_fields_have_their_types_and_empty_ones_no_value",),
    ),
    Mutant(
        "an empty value resolves a ticket",
        "tickets/custom_fields/rules.py",
        "field.required_on_resolve and not _has(value)",
        "field.required_on_resolve and value is None",
        (f"{_VALUES}::test_an_empty_value_does_not_resolve",),
    ),
    Mutant(
        "a value that stays as it is is checked",
        "tickets/custom_fields/rules.py",
        'if not is_same({"": value}, {"": values.before.get(field.key)}):',
        "if value is not None:",
        (f"{_VALUES}::test_a_value_from_before_its_definition_stays_until_it_is_written",),
    ),
    Mutant(
        "a new ticket is opened as resolved without its required values",
        "tickets/actions.py",
        'new.custom_fields or {}, new.status == "resolved")',
        "new.custom_fields or {}, False)",
        (f"{_VALUES}::test_a_ticket_is_not_resolved_without_a_required_value",),
    ),
    Mutant(
        "a custom field that somebody has changed is overwritten",
        "tickets/rules.py",
        "if value_text(ticket.custom_fields.get(key)) not in accepted:",
        "if False:",
        (
            f"{_PAGE}::test_a_conflict_concerns_one_custom_field_only",
            f"{_PAGE}::test_what_was_not_saved_goes_along_with_a_reply",
        ),
    ),
    Mutant(
        "an undo of a custom field overwrites a later change",
        "tickets/rules.py",
        'return [*given, *(f"{CUSTOM}{key}" for key in self.custom)]',
        "return [*given]",
        (f"{_PAGE}::test_an_undo_overwrites_no_later_change_and_minds_no_other_field",),
    ),
    Mutant(
        "a filter finds a value of any custom field",
        "search/rules.py",
        "pair = json.dumps([key.casefold(), folded]).encode()",
        "pair = json.dumps([folded]).encode()",
        (f"{_SEARCH}::test_filters_by_custom_fields_find_exactly_their_values",),
    ),
    Mutant(
        "the list shows all tickets in spite of a custom field that is chosen",
        "tickets/views/inbox_query.py",
        "return bool(self.q or self.field)",
        "return bool(self.q)",
        (f"{_SEARCH}::test_the_chip_filters_the_list_and_its_views",),
    ),
)
