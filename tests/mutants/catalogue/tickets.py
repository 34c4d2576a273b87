"""Mutants of `tickets`."""

from tests.mutants.mutant import Mutant

_TICKET_PAGES = "tests/tickets/test_ticket_pages.py"
_FIELDS = "tests/tickets/test_single_fields.py"
_MARKDOWN = "tests/tickets/test_markdown.py"
_BULK = "tests/tickets/test_inbox_bulk.py"
_INBOX = "tests/tickets/test_inbox.py"
_EVERY_PAGE = "tests/browser/test_every_page.py::test_no_page_runs_a_text_and_all_are_accessible"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "any key replies in the name of an agent",
        "tickets/authors.py",
        "        importing.check_may_import(caller)\n",
        "",
        (
            "tests/tickets/test_importing.py"
            "::test_without_the_permission_the_time_is_ignored_and_an_agent_forbidden",
        ),
    ),
    Mutant(
        "any key chooses when a ticket was created",
        "tickets/api.py",
        "    if IMPORT in request.caller.may:\n",
        "    if request.caller.may:\n",
        (
            "tests/tickets/test_importing.py"
            "::test_without_the_permission_the_time_is_ignored_and_an_agent_forbidden",
        ),
    ),
    Mutant(
        "a page of replies is rendered without a bound",
        "tickets/text/html_fields.py",
        "if steps > MAX_STEPS and extended:",
        "if steps < 0 and extended:",
        ("tests/tickets/test_html.py::test_a_page_ends_early_when_rendering_takes_long",),
    ),
    Mutant(
        "rendering for the API costs the tenant nothing",
        "web/application.py",
        "units += request.rendered_steps // _STEPS_PER_UNIT",
        "units += 0 // _STEPS_PER_UNIT",
        ("tests/api_keys/test_tenant_limit.py::test_rendering_a_text_is_a_unit_for_100_steps",),
    ),
    Mutant(
        "links of javascript: are links in the HTML of the API",
        "tickets/text/markdown.py",
        "lambda url: _HTTP.match(url) is not None",
        "lambda url: True",
        ("tests/tickets/test_html.py::test_no_html_is_active",),
    ),
    Mutant(
        "a ticket is found without its tenant",
        "tickets/store/tickets.py",
        "WHERE tenant_id = :tenant_id AND id = :id LIMIT 1",
        "WHERE :tenant_id <> '' AND id = :id LIMIT 1",
        ("tests/test_routes.py::test_a_key_of_another_tenant_finds_no_data_of_this_tenant",),
    ),
    Mutant(
        "a ticket can be assigned to anybody",
        "tickets/store/assignees.py",
        "SELECT 1 FROM users WHERE tenant_id = :tenant_id AND id = :id",
        "SELECT 1 FROM users WHERE :tenant_id <> '' AND id = :id",
        ("tests/test_routes.py::test_a_ticket_cannot_be_assigned_to_a_foreign_agent",),
    ),
    Mutant(
        "a change of a ticket is not in its history",
        "tickets/actions.py",
        "        await history.add(tx, update.after, caller.actor, in_history, now_us)\n",
        "        pass\n",
        (
            "tests/tickets/test_history.py::test_the_history_records_a_change_with_its_actor",
            "tests/tickets/test_history.py::test_the_history_records_a_ticket_reopened_by_its_customer",
        ),
    ),
    Mutant(
        "a reply is accepted although a newer reply was not seen",
        "tickets/actions.py",
        '    if last_seen_id != (listed[0].id if listed else ""):\n',
        "    if False:\n",
        (
            f"{_TICKET_PAGES}::test_a_reply_is_refused_when_a_newer_reply_was_not_seen",
            f"{_TICKET_PAGES}::test_a_reply_that_is_sent_twice_is_stored_once",
        ),
    ),
    Mutant(
        "a reply is accepted although another was committed during its transaction",
        "tickets/actions.py",
        "    written, replied = await _reply(tx, caller, stored, new, now_us)\n",
        "    stored = await get_ticket(tx, caller.tenant_id, ticket_id)\n"
        "    written, replied = await _reply(tx, caller, stored, new, now_us)\n",
        (
            f"{_TICKET_PAGES}::test_a_reply_is_refused_when_another_is_committed_during_its_transaction",
        ),
    ),
    Mutant(
        "an outdated form overwrites changes of others",
        "tickets/pages/ticket.py",
        "if_match=(etag,)",
        "if_match=None",
        (f"{_TICKET_PAGES}::test_saving_an_outdated_form_shows_the_changes_of_others",),
    ),
    Mutant(
        "saving again reverts the changes of others",
        "tickets/pages/ticket_response.py",
        "typed[name] if typed[name] != before[name] else current[name]",
        "typed[name]",
        (f"{_TICKET_PAGES}::test_saving_an_outdated_form_shows_the_changes_of_others",),
    ),
    Mutant(
        "a field overwrites what somebody else has chosen meanwhile",
        "tickets/actions.py",
        "    stored = await get_ticket(tx, caller.tenant_id, ticket_id)\n"
        "    rules.check_seen(stored.ticket, wanted)\n",
        "    stored = await get_ticket(tx, caller.tenant_id, ticket_id)\n",
        (f"{_FIELDS}::test_a_field_that_somebody_has_changed_is_not_overwritten",),
    ),
    Mutant(
        "an undo overwrites a later change",
        "tickets/actions.py",
        "    if any(name in entry.changes for entry in later for name in wanted.names()):\n",
        "    if not wanted.names():\n",
        (f"{_FIELDS}::test_an_undo_never_overwrites_a_later_change",),
    ),
    Mutant(
        "fields that were not saved are lost when a reply is sent",
        "tickets/pages/field_form.py",
        'return [field for field in FIELDS if f"{_WAS}{field}" in names and field in sent]',
        "return [field for field in FIELDS if field in names and field in sent]",
        (f"{_FIELDS}::test_fields_that_were_not_saved_go_along_with_a_reply",),
    ),
    Mutant(
        "Markdown lets javascript: through",
        "tickets/text/markdown.py",
        "lambda url: _HTTP.match(url) is not None",
        "lambda url: True",
        (f"{_MARKDOWN}::test_other_addresses_than_http_are_no_links",),
    ),
    Mutant(
        "the sanitiser lets javascript: through",
        "tickets/text/markdown.py",
        'url_schemes={"http", "https"}',
        'url_schemes={"http", "https", "javascript"}',
        (f"{_MARKDOWN}::test_the_sanitiser_alone_lets_no_script_through",),
    ),
    Mutant(
        "the steps of rendering a text have no limit",
        "tickets/text/markdown.py",
        '    if env["steps"] > MAX_STEPS:\n',
        "    if not env:\n",
        (f"{_MARKDOWN}::test_what_takes_too_many_steps_is_shown_as_it_is",),
    ),
    Mutant(
        "an open page does not report changes of its ticket",
        "tickets/pages/presence.py",
        'etag != forms.read_query(request).text("etag")',
        "False",
        (f"{_TICKET_PAGES}::test_an_open_page_says_that_the_ticket_has_changed",),
    ),
    Mutant(
        "text beside a link is not escaped",
        "tickets/text/links.py",
        "        yield escape(text[end : link.start])\n",
        "        yield text[end : link.start]\n",
        ("tests/tickets/test_links.py::test_hostile_text_stays_text",),
    ),
    Mutant(
        "records of agents who are writing are never pruned",
        "tickets/store/replying.py",
        '"seen_since": now_us - REPLYING_US',
        '"seen_since": 0',
        (f"{_TICKET_PAGES}::test_an_agent_without_heartbeats_is_no_longer_writing",),
    ),
    Mutant(
        "a bulk change overwrites changes since the preview",
        "tickets/pages/bulk.py",
        "if_match=(line.etag,)",
        "if_match=None",
        (f"{_BULK}::test_a_ticket_that_changed_since_the_preview_is_not_changed",),
    ),
    Mutant(
        "one failure stops a bulk change",
        "tickets/pages/bulk.py",
        "        return line._replace(reason=_reason(error))\n",
        "        raise error\n",
        (f"{_BULK}::test_a_ticket_that_cannot_be_stored_does_not_stop_the_others",),
    ),
    Mutant(
        "a reply writes the index entries of unchanged columns",
        "tickets/store/tickets.py",
        "if getattr(before, name) != getattr(after, name)",
        "if name in Ticket.__struct_fields__",
        ("tests/tickets/test_plans.py::test_a_change_writes_only_the_indexes_of_what_it_changes",),
    ),
    Mutant(
        "a changed status is not stored",
        "tickets/store/tickets.py",
        '    "status", "priority", "assignee_id", ',
        '    "priority", "assignee_id", ',
        ("tests/tickets/test_plans.py::test_a_change_writes_only_the_indexes_of_what_it_changes",),
    ),
    Mutant(
        "counting tickets has no limit",
        "tickets/store/lists.py",
        " LIMIT {MAX_COUNT + 1} + {_SNOOZED.get(status, 0)}) x)",
        ") x)",
        ("tests/tickets/test_plans.py::test_counting_statuses_reads_no_more_than_its_index",),
    ),
    Mutant(
        "a note ends the waiting of a customer",
        "tickets/rules.py",
        "    if not reply.is_internal:\n",
        "    if reply.body:\n",
        ("tests/tickets/test_turn.py::test_a_note_changes_neither",),
    ),
    Mutant(
        "a customer who writes again waits from then on only",
        "tickets/rules.py",
        "said_at if ticket.waiting_since is None else ticket.waiting_since",
        "said_at",
        ("tests/tickets/test_turn.py::test_a_reply_of_the_customer_begins_the_waiting_once",),
    ),
    Mutant(
        "a reply to an old ticket is not announced",
        "tickets/store/lists.py",
        'filters, sort_by="updated_at", newest_first=False',
        'filters, created_after=since[0], sort_by="updated_at", newest_first=False',
        (f"{_INBOX}::test_replies_and_changes_of_tickets_in_view_are_counted",),
    ),
    Mutant(
        "a ticket is read as soon as anybody has read it",
        "tickets/store/reads.py",
        "WHERE tenant_id = :tenant_id AND user_id = :user_id AND ticket_id IN",
        "WHERE tenant_id = :tenant_id AND :user_id <> '' AND ticket_id IN",
        ("tests/tickets/test_unread.py::test_another_persons_reading_clears_nothing",),
    ),
    Mutant(
        "a page that is fetched in advance marks its ticket as read",
        "tickets/pages/unread.py",
        'b"prefetch" in purpose',
        "False",
        ("tests/tickets/test_unread.py::test_a_prefetched_page_is_not_read",),
    ),
    Mutant(
        "what a user has read is never deleted",
        "tickets/store/reads.py",
        'if await tx.fetch_one(_NTH, user | {"kept": MAX_READS + _SLACK}) is None:',
        "if user:",
        ("tests/tickets/test_unread.py::test_a_person_has_a_bounded_number_of_rows",),
    ),
    Mutant(
        "unselective filters never choose an index",
        "tickets/store/lists.py",
        "_unselective_index(filters, list(counts))",
        "None",
        (
            "tests/tickets/test_plans.py::test_without_a_selective_filter_the_index_of_unfinished_tickets_is_used",
        ),
    ),
    Mutant(
        "the number of links in a text has no limit",
        "tickets/text/links.py",
        "islice(_URL.finditer(text), _MAX_LINKS)",
        "islice(_URL.finditer(text), None)",
        ("tests/tickets/test_links.py::test_the_number_of_links_is_limited_and_all_text_is_shown",),
    ),
    Mutant(
        "the link to newer tickets leads to the first page",
        "tickets/pages/inbox.py",
        "trail=query.trail[:-1]",
        "trail=()",
        (f"{_INBOX}::test_older_and_newer_lead_through_all_tickets_and_back",),
    ),
    Mutant(
        "new tickets are counted without the filters of the page",
        "tickets/pages/inbox.py",
        "        return await lists.list_changed",
        "        of_customer = Filter()\n        return await lists.list_changed",
        (f"{_INBOX}::test_new_tickets_are_counted_with_the_filters_of_the_page",),
    ),
    Mutant(
        "a page in a browser: a subject is not escaped",
        "tickets/templates/ticket.html",
        '<bdi data-visited="{{ at }}">{{ ticket.subject }}</bdi>',
        '<bdi data-visited="{{ at }}">{{ ticket.subject | safe }}</bdi>',
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a URL may have a priority that is out of range for PostgreSQL",
        "tickets/views/inbox_query.py",
        '"priority": 1, ',
        '"priority": 18, ',
        (f"{_INBOX}::test_a_position_without_a_valid_priority_is_ignored",),
    ),
    Mutant(
        "a ticket that is committed after an empty page was shown is not counted as new",
        "tickets/pages/inbox.py",
        "[request.now_us - _MAX_COMMIT_DELAY_US, ids.NONE]",
        "[request.now_us, ids.NONE]",
        (f"{_INBOX}::test_a_ticket_committed_after_an_empty_page_was_shown_is_new",),
    ),
    Mutant(
        "the history stores long texts without shortening them",
        "tickets/store/history.py",
        "is_long = isinstance(text, str) and len(text) > _MAX_TEXT_LENGTH",
        "is_long = False",
        ("tests/tickets/test_history.py::test_the_history_records_the_beginning_of_long_texts",),
    ),
    Mutant(
        "a reader who is not among the newest users is not an option for the assignee",
        "tickets/pages/view_model.py",
        "    options.setdefault(reader.id, reader.name)\n",
        "",
        (f"{_TICKET_PAGES}::test_with_many_users_the_reader_and_the_assignee_are_still_options",),
    ),
    Mutant(
        "the preview of a bulk change holds the long texts of all tickets",
        "tickets/pages/bulk.py",
        "_without_text(each) for each in stored",
        "each for each in stored",
        (f"{_BULK}::test_the_preview_holds_few_long_descriptions_at_a_time",),
    ),
    Mutant(
        "behind a prefix, a reload leads to a URL without the prefix",
        "tickets/templates/bulk_done.html",
        'data-address="{{ root }}{{ back }}"',
        'data-address="{{ back }}"',
        (f"{_BULK}::test_behind_a_prefix_a_reload_leads_to_the_same_query",),
    ),
    Mutant(
        "the page of a ticket shows 50 replies of any size",
        "tickets/pages/timeline.py",
        "_MAX_BYTES = 128 * 1024",
        "_MAX_BYTES = 128 * 1024 * 1024",
        (
            "tests/web/test_large_pages.py"
            "::test_the_page_of_a_ticket_ends_early_and_leads_to_all_replies",
        ),
    ),
    Mutant(
        "a form of a new ticket that is sent twice opens two tickets",
        "tickets/pages/new_ticket.py",
        "    if stored is not None:\n",
        "    if False:\n",
        (
            "tests/tickets/test_new_ticket.py::test_a_form_that_is_sent_twice_opens_one_ticket",
            "tests/tickets/test_new_ticket.py::test_a_form_that_is_sent_at_once_opens_one_ticket",
        ),
    ),
    Mutant(
        "a revoked key ends the first step",
        "tickets/store/keys.py",
        "AND revoked_at IS NULL\n",
        "\n",
        (f"{_INBOX}::test_the_first_step_is_to_create_a_key_while_there_is_none",),
    ),
    Mutant(
        "the notice of one changed ticket leads to the list",
        "tickets/templates/arrived.html",
        "{% if count == 1 %}",
        "{% if count == 0 %}",
        (f"{_INBOX}::test_new_tickets_are_counted_with_the_filters_of_the_page",),
    ),
    Mutant(
        "a search has a next ticket",
        "tickets/pages/neighbours.py",
        "None if query.q else _position_of",
        "None if query.view else _position_of",
        ("tests/tickets/test_neighbours.py::test_without_a_known_list_a_ticket_has_no_neighbours",),
    ),
)
