"""Mutants of `tickets.tags`, and of the export of lists."""

from tests.mutants.mutant import Mutant

_TAGS = "tests/tickets/tags/test_tags.py"
_EXPORT = "tests/web/test_csv_export.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "exports that begin at once exceed their number",
        "web/csv_export.py",
        """    running[tenant_id] += 1
    try:
        first = await _begin(request, export)
""",
        """    first = await _begin(request, export)
    running[tenant_id] += 1
    try:
""",
        (f"{_EXPORT}::test_exports_that_begin_at_once_see_each_other",),
    ),
    Mutant(
        "tickets without a value of a custom field are exported with those that have it",
        "tickets/pages/export.py",
        """    if listed.query.is_search():
        return render.redirect(request, listed.query.link())
    if not""",
        "    if not",
        (f"{_EXPORT}::test_a_search_is_not_exported",),
    ),
    Mutant(
        "all reads of an export share the time of one request",
        "web/csv_export.py",
        "    waits = Deadline()\n    deadline.set(waits)\n",
        "    waits = deadline.get() or Deadline()\n",
        (f"{_EXPORT}::test_a_long_export_has_time_for_each_read_and_is_charged_for_it",),
    ),
    Mutant(
        "a renaming that fails is tried again before those of other desks",
        "worker/renamer.py",
        "actions.postpone(tx, due, now_us)",
        "actions.postpone(tx, due, due.stepped_at)",
        (f"{_TAGS}::test_a_renaming_that_fails_holds_up_no_other_desk",),
    ),
    Mutant(
        "a renaming is always continued before all others",
        "tickets/tags/steps/store.py",
        "ORDER BY stepped_at, id LIMIT",
        "ORDER BY id, stepped_at LIMIT",
        (f"{_TAGS}::test_desks_take_turns",),
    ),
    Mutant(
        "renaming a tag forgets the views",
        "tickets/tags/steps/actions.py",
        "if changed != query and not",
        "if changed == query and not",
        (f"{_TAGS}::test_views_that_filter_by_the_tag_follow",),
    ),
    Mutant(
        "renaming a tag overwrites a view that is saved meanwhile",
        "tickets/tags/steps/store.py",
        " AND id = :id AND query = :before",
        " AND id = :id AND :before <> ''",
        (f"{_TAGS}::test_a_view_that_is_saved_meanwhile_is_not_overwritten",),
    ),
    Mutant(
        "two tags become one without a question",
        "tickets/tags/actions.py",
        "if is_used and not is_merge:",
        "if is_used and is_merge is None:",
        (f"{_TAGS}::test_two_tags_become_one_only_when_confirmed",),
    ),
    Mutant(
        "a merged tag is twice on a ticket",
        "tickets/tags/rules.py",
        "list(dict.fromkeys(new_tag if each == tag else each for each in tags))",
        "[new_tag if each == tag else each for each in tags if each != new_tag or tag in tags[:1]]",
        (f"{_TAGS}::test_two_tags_become_one_only_when_confirmed",),
    ),
    Mutant(
        "tags of other tenants are suggested",
        "tickets/tags/store.py",
        "WHERE tenant_id = :tenant_id AND tag >= :first AND tag < :last",
        "WHERE tag >= :first AND tag < :last AND :tenant_id <> ''",
        (f"{_TAGS}::test_tags_of_other_tenants_are_neither_suggested_nor_renamed",),
    ),
    Mutant(
        "everybody exports all tickets",
        "routes/ticket_pages.py",
        '"/tickets/export/file", _ADMIN_PAGE',
        '"/tickets/export/file", _USER_PAGE',
        (f"{_EXPORT}::test_only_administrators_export",),
    ),
    Mutant(
        "a spreadsheet evaluates a subject as a formula",
        "resources/csv_file.py",
        "writer.writerows([escape(cell) for cell in row] for row in rows)",
        "writer.writerows(rows)",
        (f"{_EXPORT}::test_a_spreadsheet_evaluates_no_cell_of_a_ticket",),
    ),
    Mutant(
        "an incomplete export is a whole file",
        "web/csv_export.py",
        "raise ExportEnded",
        "return",
        (f"{_EXPORT}::test_an_export_that_takes_too_long_is_no_whole_file",),
    ),
    Mutant(
        "an ended export keeps its place",
        "web/csv_export.py",
        "running[tenant_id] -= 1",
        "running[tenant_id] -= 0",
        (f"{_EXPORT}::test_ended_exports_make_room",),
    ),
    Mutant(
        "an export goes on after its session",
        "web/csv_export.py",
        "    await request.prove_again()\n",
        "",
        (f"{_EXPORT}::test_an_export_ends_with_the_session",),
    ),
    Mutant(
        "a tag takes no notice of the spelling of the desk",
        "tickets/store/tickets.py",
        "            known.setdefault(tag.casefold(), found)\n",
        "            known.setdefault(tag, found)\n",
        ("tests/tickets/tags/test_spellings.py::test_a_new_tag_takes_the_spelling_of_the_desk",),
    ),
    Mutant(
        "macros keep a tag that is renamed",
        "tickets/tags/steps/actions.py",
        "        if [*tags] != [*changed]:\n",
        "        if [*tags] == [*changed]:\n",
        (
            "tests/tickets/tags/test_tags.py"
            "::test_a_tag_gets_another_case_and_macros_that_add_it_follow",
        ),
    ),
)
