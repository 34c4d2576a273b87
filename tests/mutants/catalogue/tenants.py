"""Mutants of tenant scope and permissions: who sees and changes what."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a test key is made in the live tenant",
        "api_keys/test_mode/tenants.py",
        "caller = msgspec.structs.replace(request.caller, tenant_id=tenant_id)",
        "caller = request.caller",
        (
            (
                "tests/api_keys/test_test_mode.py"
                "::test_all_test_keys_of_a_tenant_share_their_data_and_live_keys_see_none"
            ),
        ),
    ),
    Mutant(
        "a new key may manage webhooks though nobody said so",
        "api_keys/actions.py",
        "permissions = DEFAULT_PERMISSIONS if",
        "permissions = PERMISSIONS if",
        (
            (
                "tests/api_keys/test_new_keys.py"
                "::test_permissions_left_out_are_those_that_need_not_be_named"
            ),
        ),
    ),
    Mutant(
        "a key that reads webhooks may also change them",
        "routes/by_key.py",
        'guard=read if row.method == "GET" else write',
        "guard=read",
        (
            "tests/webhooks/test_by_key.py::test_who_reads_webhooks_cannot_change_them",
            (
                "tests/api_keys/test_permissions.py"
                "::test_exactly_the_keys_with_a_needed_permission_pass"
            ),
        ),
    ),
    Mutant(
        "a key is found without its tenant",
        "api_keys/store.py",
        '_FIND = select_row("api_keys k", _COLUMNS)',
        "_FIND = f\"SELECT {_COLUMNS} FROM api_keys k WHERE :tenant_id <> '' AND k.id = :id\"",
        (
            (
                "tests/test_routes.py"
                "::test_an_administrator_of_another_tenant_finds_no_data_of_this_tenant"
            ),
        ),
    ),
    Mutant(
        "tenants share files",
        "tickets/attachments/rules.py",
        '/{content.sha256}.{content.tenant_id}"',
        '/{content.sha256}.{0:036}"',
        ("tests/tickets/test_uploads.py::test_tenants_do_not_share_files",),
    ),
    Mutant(
        "a link leads to every attachment of its tenant",
        "tickets/attachments/api.py",
        "    if found.id != attachment_id:\n",
        "    if found.tenant_id != link.tenant_id:\n",
        ("tests/tickets/test_attached.py::test_a_link_leads_to_its_attachment_only",),
    ),
    Mutant(
        "a customer's page shows internal notes",
        "mail/customer_page/actions.py",
        "tx, tenant_id, ticket_id, page, is_internal=False, newest_first=True",
        "tx, tenant_id, ticket_id, page, is_internal=None, newest_first=True",
        (
            (
                "tests/mail/contact_form/test_customer_page.py"
                "::test_notes_and_other_peoples_secrets_are_not_on_the_page"
            ),
        ),
    ),
    Mutant(
        "files of notes can be fetched",
        "mail/customer_page/actions.py",
        "if reply is None or reply.is_internal:",
        "if reply is None:",
        (
            (
                "tests/mail/contact_form/test_customer_page.py"
                "::test_notes_and_other_peoples_secrets_are_not_on_the_page"
            ),
        ),
    ),
    Mutant(
        "who joined later reads everything",
        "mail/customer_page/rules.py",
        "return is_customer or written_at >= joined_at",
        "return is_customer or written_at >= 0 <= joined_at",
        (
            (
                "tests/mail/contact_form/test_customer_page.py"
                "::test_who_joined_later_reads_what_came_after"
            ),
        ),
    ),
    Mutant(
        "a rewritten link is shown to other participants",
        "mail/threads/redaction.py",
        "    if spans:\n",
        "    if not spans:\n",
        (
            (
                "tests/mail/contact_form/test_customer_page.py"
                "::test_a_rewritten_link_of_another_participant_is_on_no_page_and_in_no_mail"
            ),
        ),
    ),
    Mutant(
        "secrets in quotes are stored",
        "mail/receiving/arrivals.py",
        "text=redact(message.text, secrets)",
        "text=message.text",
        (
            (
                "tests/mail/test_quoted_text.py"
                "::test_secrets_in_quotes_are_stored_in_no_ticket_but_in_the_raw_message"
            ),
        ),
    ),
    Mutant(
        "any participant's token opens the page",
        "mail/threads/links.py",
        "        if hmac.compare_digest(_hash(each), opened.participant_hash):\n",
        "        if each.ticket_id == opened.ticket_id:\n",
        (
            (
                "tests/mail/contact_form/test_customer_page.py"
                "::test_who_joined_later_reads_what_came_after"
            ),
        ),
    ),
    Mutant(
        "a sealed file belongs to every tenant",
        "crypto/sealed_file.py",
        "    return header + about.encode()\n",
        "    return header\n",
        (
            (
                "tests/crypto/test_sealed_file.py"
                "::test_a_sealed_file_opens_for_no_other_tenant_and_under_no_other_key"
            ),
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
        "the tenant is set for the session",
        "db/postgres/statements.py",
        "_SET_TENANT = f\"set_config('{TENANT_SETTING}', %s, true)\"",
        "_SET_TENANT = f\"set_config('{TENANT_SETTING}', %s, false)\"",
        ("tests/db/test_isolation.py::test_reused_connection_has_no_tenant",),
    ),
    Mutant(
        "a policy shows every row",
        "db/postgres/roles.py",
        "USING ({_IS_OF_TENANT})",
        "USING (true)",
        (
            "tests/db/test_roles.py::test_policies_are_exactly_these",
            "tests/db/test_isolation.py::test_read_without_its_filter_returns_no_foreign_row",
        ),
    ),
    Mutant(
        "the search function accepts any tenant",
        "db/migrations/versions/0071_schema.py",
        "    IF of_tenant IS DISTINCT FROM nullif(",
        "    IF false AND of_tenant IS DISTINCT FROM nullif(",
        (
            "tests/search/test_search.py::test_search_function_refuses_another_tenant",
            "tests/search/test_customers.py::test_search_function_refuses_another_tenant",
        ),
    ),
    Mutant(
        "the feed shows every type to every key",
        "feed/rules.py",
        "        return [kind for kind, needs in NEEDS.items() if not may.isdisjoint(needs)]\n",
        "        return list(NEEDS)\n",
        ("tests/feed/test_feed.py::test_each_type_is_shown_only_with_its_permission",),
    ),
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
        ("tests/web/test_pages.py::test_an_agent_gets_an_error_page_on_pages_for_administrators",),
    ),
    Mutant(
        "an agent may manage keys",
        "identity/auth/bearer_guard.py",
        "if user.role not in self.needs:",
        "if user.role not in rules.ROLES:",
        ("tests/test_routes.py::test_an_agent_is_refused_on_routes_for_administrators",),
    ),
    Mutant(
        "every administrator may name another tenant",
        "identity/auth/bearer_guard.py",
        'if user.role != "super_admin":',
        'if user.role == "agent":',
        ("tests/test_routes.py::test_an_administrator_cannot_name_another_tenant",),
    ),
    Mutant(
        "a tenant_admin makes a super_admin",
        "identity/rules.py",
        'for role in ROLES if "super_admin" in may or role != "super_admin")',
        "for role in ROLES)",
        (
            "tests/identity/test_people_pages.py::test_nobody_assigns_a_role_above_their_own",
            (
                "tests/identity/test_people_pages.py"
                "::test_an_administrator_cannot_change_a_super_admin"
            ),
        ),
    ),
    Mutant(
        "a key that reads only tickets guesses phone numbers by searching",
        "tickets/views/search_filters.py",
        "    listing.check_reads_customers(request.caller)\n",
        "",
        ("tests/tickets/test_search_api.py::test_only_keys_that_read_customers_search_by_them",),
    ),
    Mutant(
        "a bulk request chooses times without import:write",
        "tickets/bulk/api.py",
        "NewTicket if IMPORT in request.caller.may else TicketBody",
        "NewTicket if IMPORT else TicketBody",
        ("tests/tickets/test_bulk_api.py::test_a_key_that_may_not_import_chooses_no_times",),
    ),
    Mutant(
        "a key that may not read customers gets them included",
        "tickets/ticket/listing.py",
        "and _READ_CUSTOMERS not in caller.may:\n",
        "and not caller.may:\n",
        ("tests/tickets/test_include.py::test_a_customer_is_included_for_keys_that_may_read_them",),
    ),
    Mutant(
        "a stream gets the events of another tenant",
        "tickets/live/store.py",
        (
            '_EVENTS = """\n'
            "SELECT position, type, created_at, object FROM events\n"
            "WHERE tenant_id = :tenant_id AND position > :after ORDER BY position LIMIT :limit\n"
        ),
        (
            '_EVENTS = """\n'
            "SELECT position, type, created_at, object FROM events\n"
            "WHERE :tenant_id <> '' AND position > :after ORDER BY position LIMIT :limit\n"
        ),
        ("tests/tickets/live/test_stream.py::test_another_tenant_is_told_nothing",),
    ),
    Mutant(
        "somebody else's notification can be opened",
        "tickets/notifications/store.py",
        'select_row("notifications", "ticket_id", "tenant_id id user_id")',
        'select_row("notifications", "ticket_id")',
        (
            (
                "tests/tickets/test_notifications.py"
                "::test_the_notification_of_somebody_else_does_not_exist"
            ),
        ),
    ),
    Mutant(
        "a macro is found by its id alone",
        "tickets/macros/store.py",
        '_FIND = select_row("macros", _COLUMNS)',
        "_FIND = f\"SELECT {_COLUMNS} FROM macros WHERE :tenant_id <> '' AND id = :id LIMIT 1\"",
        (
            (
                "tests/tickets/macros/test_composer.py"
                "::test_a_macro_of_another_desk_is_neither_shown_nor_put_in"
            ),
        ),
    ),
    Mutant(
        "whoever knows a token writes as its participant",
        "mail/receiving/cases.py",
        "sender or await threads.find_participant(tx, tenant_id, ticket_id, identity)\n",
        "(await threads.list_participants(tx, tenant_id, ticket_id))[0]\n",
        ("tests/mail/receiving/test_forging.py::test_nobody_writes_into_a_foreign_ticket",),
    ),
    Mutant(
        "a token is found at any domain",
        "mail/receiving/contents.py",
        " and mailbox_identity(address) in identities\n",
        "\n",
        ("tests/mail/receiving/test_forging.py::test_nobody_writes_into_a_foreign_ticket",),
    ),
    Mutant(
        "another desk gets a form with a + of an address",
        "mail/mailboxes/store/directory.py",
        "    return owner != tenant_id or form is not None\n",
        "    return False\n",
        (
            (
                "tests/mail/mailboxes/test_mailboxes.py"
                "::test_an_address_with_its_plus_forms_belongs_to_one_desk"
            ),
        ),
    ),
    Mutant(
        "an assigned domain is anybody's",
        "mail/mailboxes/addresses.py",
        "if domain is not None and domain.tenant_id not in (tenant_id, EVERYBODY):",
        "if domain is not None and domain.tenant_id not in (domain.tenant_id, EVERYBODY):",
        (
            (
                "tests/mail/mailboxes/test_mailboxes.py"
                "::test_an_assigned_domain_is_refused_to_other_desks"
            ),
        ),
    ),
    Mutant(
        "tags of other tenants are suggested",
        "tickets/tags/store.py",
        "WHERE tenant_id = :tenant_id AND tag >= :first AND tag < :last",
        "WHERE tag >= :first AND tag < :last AND :tenant_id <> ''",
        (
            (
                "tests/tickets/tags/test_tags.py"
                "::test_tags_of_other_tenants_are_neither_suggested_nor_renamed"
            ),
        ),
    ),
    Mutant(
        "everybody exports all tickets",
        "routes/ticket_pages.py",
        '"/tickets/export/file", _ADMIN_PAGE',
        '"/tickets/export/file", _USER_PAGE',
        ("tests/web/test_csv_export.py::test_only_administrators_export",),
    ),
    Mutant(
        "any key replies in the name of an agent",
        "tickets/checks.py",
        "        _check_may_import(caller)\n",
        "",
        (
            (
                "tests/tickets/test_importing.py"
                "::test_without_the_permission_the_time_is_ignored_and_an_agent_forbidden"
            ),
        ),
    ),
    Mutant(
        "a ticket is found without its tenant",
        "tickets/ticket/store/tickets.py",
        'select_row("tickets", "1")',
        "\"SELECT 1 FROM tickets WHERE :tenant_id <> '' AND id = :id LIMIT 1\"",
        ("tests/test_routes.py::test_a_key_of_another_tenant_finds_no_data_of_this_tenant",),
    ),
    Mutant(
        "a view by its id is shown to whoever asks",
        "tickets/views/store.py",
        "WHERE tenant_id = :tenant_id AND id = :id AND owner_id IN (:desk, :user_id) LIMIT 1",
        "WHERE tenant_id = :tenant_id AND id = :id AND :desk <> :user_id LIMIT 1",
        ("tests/tickets/test_views.py::test_another_persons_view_does_not_exist",),
    ),
    Mutant(
        "the sidebar shows the views of everybody",
        "tickets/views/store.py",
        "FROM views WHERE tenant_id = :tenant_id AND owner_id IN (:desk, :user_id)",
        "FROM views WHERE tenant_id = :tenant_id AND :desk <> :user_id",
        ("tests/tickets/test_views.py::test_another_persons_view_does_not_exist",),
    ),
    Mutant(
        "an agent changes the views of the desk",
        "tickets/views/rules.py",
        "    return (user_id, DESK) if is_administrator else (user_id,)\n",
        "    return (user_id, DESK)\n",
        (
            (
                "tests/tickets/test_views.py"
                "::test_views_of_the_desk_are_seen_by_all_and_changed_by_administrators"
            ),
        ),
    ),
    Mutant(
        "words of other tenants correct a search",
        "search/store/lookup.py",
        (
            "SELECT substr(words, 1, 1000) AS words FROM search_documents WHERE tenant_id = "
            ":tenant_id"
        ),
        "SELECT substr(words, 1, 1000) AS words FROM search_documents WHERE :tenant_id <> ''",
        ("tests/search/test_search.py::test_another_tenants_words_correct_nothing",),
    ),
    Mutant(
        "events go to the endpoints of other tenants",
        "webhooks/delivery/fan_out.py",
        "subscriptions.get(tenant_id, ())",
        "sum(subscriptions.values(), [])",
        (
            (
                "tests/webhooks/test_fan_out.py"
                "::test_an_event_is_delivered_to_the_active_endpoints_that_subscribe_to_it"
            ),
        ),
    ),
    Mutant(
        "a delivery is found under any endpoint",
        "webhooks/store/endpoints.py",
        '"tenant_id id endpoint_id")',
        '"tenant_id id")',
        ("tests/webhooks/test_log.py::test_delivery_is_found_only_under_its_endpoint",),
    ),
    Mutant(
        "a page reveals a deleted or foreign endpoint",
        "webhooks/pages/endpoints.py",
        (
            "        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)\n"
            "        return endpoint,"
        ),
        (
            "        endpoint = (await endpoint_store.list_endpoints(tx, tenant_id, "
            "page_request))[0]\n"
            "        return endpoint,"
        ),
        ("tests/webhooks/test_pages.py::test_deletion_is_confirmed",),
    ),
)
