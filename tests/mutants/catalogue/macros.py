"""Mutants of macros and their variables."""

from tests.mutants.mutant import Mutant

_API = "tests/tickets/macros/test_api.py"
_COMPOSER = "tests/tickets/macros/test_composer.py"
_PAGES = "tests/tickets/macros/test_pages.py"
_TEAM = "tests/tickets/macros/test_team.py"
_VARIABLES = "tests/tickets/macros/test_variables.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a macro takes a team that does not exist",
        "tickets/macros/actions.py",
        "    return macro.team_id is None or await teams",
        "    return True or await teams",
        (f"{_TEAM}::test_a_macro_takes_only_teams_of_the_desk",),
    ),
    Mutant(
        "a macro sets a team that was deleted",
        "tickets/macros/actions.py",
        "    is_team = team_id is not None and await ",
        "    is_team = team_id is not None or await ",
        (f"{_TEAM}::test_a_deleted_team_is_named_and_left_out",),
    ),
    Mutant(
        "macros created at once do not count each other",
        "tickets/macros/actions.py",
        'tx.lock("macros"',
        'tx.try_lock("macros"',
        (f"{_API}::test_a_macro_is_counted_before_one_created_at_once",),
    ),
    Mutant(
        "a macro is found by its id alone",
        "tickets/macros/store.py",
        "FROM macros WHERE tenant_id = :tenant_id AND id = :id LIMIT 1",
        "FROM macros WHERE :tenant_id <> '' AND id = :id LIMIT 1",
        (f"{_COMPOSER}::test_a_macro_of_another_desk_is_neither_shown_nor_put_in",),
    ),
    Mutant(
        "the composer lists the macros of all desks",
        "tickets/macros/store.py",
        "SELECT id, name, shortcut FROM macros WHERE tenant_id = :tenant_id ORDER BY",
        "SELECT id, name, shortcut FROM macros WHERE :tenant_id <> '' ORDER BY",
        (f"{_COMPOSER}::test_a_macro_of_another_desk_is_neither_shown_nor_put_in",),
    ),
    Mutant(
        "an unknown variable is stored",
        "tickets/macros/variables.py",
        "if name not in NAMES]",
        "if '.' not in name and name not in NAMES]",
        (f"{_API}::test_an_unknown_variable_is_refused_and_nothing_is_stored",),
    ),
    Mutant(
        "a value is read for variables again",
        "tickets/macros/variables.py",
        "    return _VARIABLE.sub(value_of, text)\n",
        "    return _VARIABLE.sub(value_of, _VARIABLE.sub(value_of, text))\n",
        (f"{_VARIABLES}::test_a_value_that_is_a_variable_stays_as_it_is",),
    ),
    Mutant(
        "a value is Markdown",
        "tickets/macros/variables.py",
        r'    line = _MARKDOWN.sub(r"\\\g<0>", " ".join(value.split()))',
        r'    line = " ".join(value.split())',
        (f"{_VARIABLES}::test_a_link_of_a_value_leads_where_it_says",),
    ),
    Mutant(
        "the name of a customer mentions a colleague",
        "tickets/macros/variables.py",
        '    return _AT.sub(f"@{_WORD_JOINER}", line)\n',
        "    return line\n",
        (f"{_VARIABLES}::test_a_customers_name_mentions_nobody",),
    ),
    Mutant(
        "two macros have the same shortcut in another case",
        "tickets/macros/rules.py",
        'return unicodedata.normalize("NFC", shortcut.casefold())',
        'return unicodedata.normalize("NFC", shortcut)',
        (f"{_API}::test_a_shortcut_belongs_to_one_macro_whatever_its_case",),
    ),
    Mutant(
        "a macro assigns to whoever was deactivated",
        "tickets/macros/actions.py",
        "    is_assigned = assignee is not None and assignee.is_active\n",
        "    is_assigned = assignee is not None\n",
        (f"{_COMPOSER}::test_a_deactivated_assignee_is_named_and_left_out",),
    ),
    Mutant(
        "a desk has one macro more than there may be",
        "tickets/macros/actions.py",
        "caller.tenant_id)) >= rules.MAX_MACROS:\n",
        "caller.tenant_id)) > rules.MAX_MACROS:\n",
        (f"{_API}::test_of_macros_created_at_once_as_many_exist_as_there_may_be",),
    ),
    Mutant(
        "a box that is not ticked clears its field",
        "tickets/pages/field_form.py",
        "in names and field in sent]",
        "in names and (field in sent or field in FIELDS)]",
        (f"{_COMPOSER}::test_what_is_unticked_does_not_go_along",),
    ),
    Mutant(
        "a macro replaces the tags of the ticket",
        "tickets/pages/macro.py",
        'tags = [*before.get("tags", applied.ticket_tags), *applied.tags]',
        'tags = [*before.get("tags", ()), *applied.tags]',
        (f"{_COMPOSER}::test_putting_in_sends_and_saves_nothing",),
    ),
    Mutant(
        "the audit log holds the texts of macros",
        "tickets/macros/rules.py",
        '    if "body" in changes:\n',
        '    if "text" in changes:\n',
        (f"{_API}::test_each_change_is_in_the_audit_log_without_the_text",),
    ),
)
