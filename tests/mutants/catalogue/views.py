"""Mutants of saved views, their counts, and the filters of the search."""

from tests.mutants.mutant import Mutant

_VIEWS = "tests/tickets/test_views.py"
_PLANS = "tests/tickets/test_view_plans.py"
_SEARCH = "tests/tickets/test_inbox_search.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a view by its id is shown to whoever asks",
        "tickets/views/store.py",
        "WHERE tenant_id = :tenant_id AND id = :id AND owner_id IN (:desk, :user_id) LIMIT 1",
        "WHERE tenant_id = :tenant_id AND id = :id AND :desk <> :user_id LIMIT 1",
        (f"{_VIEWS}::test_another_persons_view_does_not_exist",),
    ),
    Mutant(
        "the sidebar shows the views of everybody",
        "tickets/views/store.py",
        "FROM views WHERE tenant_id = :tenant_id AND owner_id IN (:desk, :user_id)",
        "FROM views WHERE tenant_id = :tenant_id AND :desk <> :user_id",
        (f"{_VIEWS}::test_another_persons_view_does_not_exist",),
    ),
    Mutant(
        "an agent changes the views of the desk",
        "tickets/views/rules.py",
        "    return (user_id, DESK) if is_administrator else (user_id,)\n",
        "    return (user_id, DESK)\n",
        (f"{_VIEWS}::test_views_of_the_desk_are_seen_by_all_and_changed_by_administrators",),
    ),
    Mutant(
        "an owner has any number of views",
        "tickets/views/actions.py",
        "    if len(siblings) >= MAX_VIEWS:\n",
        "    if len(siblings) > MAX_VIEWS:\n",
        (f"{_VIEWS}::test_the_fifty_first_view_is_refused",),
    ),
    Mutant(
        "a view is silent about an assignee who has gone",
        "tickets/views/current.py",
        "        if person is None:\n",
        "        if person == ():\n",
        (f"{_VIEWS}::test_a_view_says_which_of_its_filters_have_gone",),
    ),
    Mutant(
        "counting a view has no bound",
        "tickets/store/counts.py",
        '        own["limit"] = MAX_COUNT + 1\n',
        '        own["limit"] = MAX_COUNT * 1000\n',
        (f"{_PLANS}::test_a_count_ends_behind_its_bound",),
    ),
    Mutant(
        "the inbox of an assignee reads the tickets of everybody",
        "tickets/store/selection.py",
        "    if filters.assignee_id is not None:\n        return ASSIGNEE_AND_CHANGE\n",
        "    if filters.assignee_id == '':\n        return ASSIGNEE_AND_CHANGE\n",
        (f"{_PLANS}::test_a_view_by_change_reads_its_own_index",),
    ),
    Mutant(
        "what is sorted carries its document",
        "tickets/store/selection.py",
        "    if filters.index is None:\n        return page\n",
        "    if filters.index != '':\n        return page\n",
        (f"{_PLANS}::test_what_is_sorted_is_read_without_documents_and_customers",),
    ),
    Mutant(
        "a count of a full sample of tickets overflows",
        "tickets/store/counts.py",
        "_FACTOR = _MAX_EXAMINED + 1\n",
        "_FACTOR = _MAX_EXAMINED\n",
        (f"{_PLANS}::test_a_count_holds_a_sample_of_which_all_match",),
    ),
    Mutant(
        "the view Urgent reads all tickets by change",
        "tickets/store/selection.py",
        "        *([_IS_URGENT] if is_urgent else []),\n",
        "        *([_IS_URGENT.replace('t.', '+t.')] if is_urgent else []),\n",
        (f"{_PLANS}::test_a_view_by_change_reads_its_own_index",),
    ),
    Mutant(
        "the search ignores the status",
        "tickets/store/lists.py",
        " AND {matching} ORDER BY t.id DESC LIMIT :limit",
        " AND {matching or 1} IS NOT NULL ORDER BY t.id DESC LIMIT :limit",
        (f"{_SEARCH}::test_filters_in_the_search_narrow_it",),
    ),
    Mutant(
        "a search marks hits without escaping the text",
        "tickets/templates/rows.html",
        "<mark>{{ part.text }}</mark>{% else %}{{ part.text }}",
        "<mark>{{ part.text }}</mark>{% else %}{{ part.text | safe }}",
        (f"{_SEARCH}::test_hits_are_marked_and_a_snippet_shows_them",),
    ),
    Mutant(
        "words of other tenants correct a search",
        "search/store/lookup.py",
        "SELECT substr(words, 1, 1000) AS words FROM search_documents WHERE tenant_id = :tenant_id",
        "SELECT substr(words, 1, 1000) AS words FROM search_documents WHERE :tenant_id <> ''",
        ("tests/search/test_search.py::test_another_tenants_words_correct_nothing",),
    ),
)
