"""Mutants of sealing, and of what must stay unseen outside the service."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "the request log stores the values of queries",
        "telemetry/counters.py",
        'f"{shown}{sign}{_HIDDEN}"',
        "pair",
        (
            (
                "tests/api_keys/test_request_log.py"
                "::test_neither_bodies_nor_values_of_queries_are_stored"
            ),
        ),
    ),
    Mutant(
        "a link has no end",
        "tickets/attachments/serving.py",
        "    if link.until_us < now_us or link.epoch != epoch:\n",
        "    if link.epoch != epoch:\n",
        ("tests/tickets/test_attached.py::test_a_link_leads_to_the_bytes_for_five_minutes",),
    ),
    Mutant(
        "the last chunk of an encrypted file is not marked",
        "crypto/encrypted_file.py",
        "bytes([is_last])",
        "bytes([0])",
        (
            (
                "tests/db/test_backup_archive.py"
                "::test_chunks_of_an_encrypted_file_cannot_be_exchanged_or_cut_off"
            ),
        ),
    ),
    Mutant(
        "the chunks of an encrypted file are not numbered",
        "crypto/encrypted_file.py",
        "    return number.to_bytes",
        "    return (0).to_bytes",
        (
            (
                "tests/db/test_backup_archive.py"
                "::test_chunks_of_an_encrypted_file_cannot_be_exchanged_or_cut_off"
            ),
        ),
    ),
    Mutant(
        "log-ins survive a restore",
        "db/epochs.py",
        "    if not epoch:\n",
        "    if True:\n",
        (
            (
                "tests/cli/test_backup.py"
                "::test_a_restored_service_has_what_was_acknowledged_and_nothing_revoked_works"
            ),
        ),
    ),
    Mutant(
        "a cursor from before a restore is accepted",
        "resources/paging.py",
        "    if contents.epoch != listing.epoch:\n",
        "    if contents.epoch > listing.epoch:\n",
        (
            (
                "tests/cli/test_backup.py"
                "::test_a_restored_service_has_what_was_acknowledged_and_nothing_revoked_works"
            ),
        ),
    ),
    Mutant(
        "a name is checked, and then connected to by name",
        "http_client/connector.py",
        "        str(address),\n",
        "        destination.name,\n",
        (
            (
                "tests/http_client/test_rebinding.py"
                "::test_no_packet_goes_to_a_forbidden_address_whatever_a_name_server_says"
            ),
        ),
    ),
    Mutant(
        "one public address of a name is enough",
        "http_client/resolver.py",
        "        if not all(is_permitted(",
        "        if not any(is_permitted(",
        (
            (
                "tests/http_client/test_resolver.py"
                "::test_a_name_is_resolved_and_checked_again_after_the_cache_expires"
            ),
            (
                "tests/http_client/test_rebinding.py"
                "::test_no_packet_goes_to_a_forbidden_address_whatever_a_name_server_says"
            ),
        ),
    ),
    Mutant(
        "a setting permits metadata services",
        "http_client/addresses.py",
        "    if any(address in network for network in _ALWAYS_DENIED):\n",
        "    if any(address in network for network in _ALWAYS_DENIED if not allowed):\n",
        ("tests/http_client/test_urls.py::test_no_setting_permits_a_metadata_service",),
    ),
    Mutant(
        "a certificate for another name is accepted",
        "http_client/connector.py",
        "    context = ssl.create_default_context()\n",
        "    context = ssl.create_default_context()\n    context.check_hostname = False\n",
        ("tests/http_client/test_requests.py::test_an_invalid_certificate_receives_no_request",),
    ),
    Mutant(
        "a stored password goes to a new server",
        "mail/mailboxes/rules.py",
        "        and is_moved(before, after, protocol)\n",
        "        and is_moved(after, after, protocol)\n",
        (
            (
                "tests/mail/mailboxes/test_mailboxes.py"
                "::test_a_password_is_never_sent_to_another_server"
            ),
        ),
    ),
    Mutant(
        "a log-in is sent without TLS",
        "mail/mailboxes/rules.py",
        'if mailbox.smtp_security == "none" and (mailbox.smtp_username or has_password):',
        "if False:",
        ("tests/mail/mailboxes/test_mailboxes.py::test_what_cannot_work_is_refused",),
    ),
    Mutant(
        "the server's name is not compared with its certificate",
        "mail/connections.py",
        "    context.minimum_version = ssl.TLSVersion.TLSv1_2\n",
        "    context.check_hostname = False\n",
        ("tests/mail/mailboxes/test_connection_test.py::test_each_fault_is_found_in_its_step",),
    ),
    Mutant(
        "a refused log-in repeats the password",
        "mail/imap/session.py",
        'raise _refused(answer, "login_refused", log_in.secret)',
        'raise _refused(answer, "login_refused")',
        ("tests/mail/mailboxes/test_connection_test.py::test_a_refused_password_is_not_repeated",),
    ),
    Mutant(
        "whoever consents connects a mailbox",
        "mail/mailboxes/actions.py",
        "    if address_identity(consent.account) != before.address_identity:\n",
        "    if not consent.account:\n",
        (
            "tests/mail/mailboxes/test_consents.py"
            "::test_the_consent_of_another_account_changes_nothing",
        ),
    ),
    Mutant(
        "an answer of a provider with any state is taken",
        "mail/mailboxes/consents.py",
        "    if not is_same or request.now_us >= asked.until_us:\n",
        "    if request.now_us >= asked.until_us:\n",
        (
            "tests/mail/mailboxes/test_consents.py::test_an_answer_with_another_state_changes_nothing",
        ),
    ),
    Mutant(
        "an access token goes to a server that a tenant chose",
        "mail/mailboxes/rules.py",
        " and provider.has(*at)\n",
        "\n",
        (
            "tests/mail/mailboxes/test_consents.py"
            "::test_a_token_goes_to_no_server_that_the_tenant_chose",
        ),
    ),
    Mutant(
        "what follows STARTTLS in the clear is run",
        "mail/receiving/session.py",
        "        if self._reader._buffer:\n",
        "        if False:\n",
        ("tests/mail/receiving/test_session.py::test_nothing_may_follow_starttls_in_the_clear",),
    ),
    Mutant(
        "a Message-ID can be computed from the address",
        "mail/sending/queueing.py",
        "rules.message_id(reply_id, each.token, mailbox.address)",
        "rules.message_id(reply_id, each.address_identity, mailbox.address)",
        ("tests/mail/sending/test_bounces.py::test_forged_reports_have_no_effect",),
    ),
    Mutant(
        "the server starts with any master key",
        "cli/serving.py",
        "    master_key.ensure_fits(settings)\n",
        "",
        ("tests/cli/test_lost_database.py::test_server_does_not_start_with_another_master_key",),
    ),
    Mutant(
        "Markdown lets javascript: through",
        "tickets/text/markdown.py",
        "lambda url: _HTTP.match(url) is not None",
        "lambda url: True",
        ("tests/tickets/text/test_markdown.py::test_other_addresses_than_http_are_no_links",),
    ),
    Mutant(
        "caches may store the responses of one caller",
        "web/application.py",
        "        *envelope.caching_headers(response),\n",
        "",
        (
            "tests/deploy/test_caches.py::test_the_same_headers_are_checked_each_time",
            "tests/web/test_caching.py::test_signed_routes_are_private_for_every_caller",
        ),
    ),
    Mutant(
        "templates do not escape HTML",
        "web/pages/environment.py",
        "autoescape=True,",
        "autoescape=False,",
        ("tests/webhooks/test_pages.py::test_hostile_text_is_shown_as_text",),
    ),
    Mutant(
        "rotating the master key does not reseal the old webhook secret",
        "webhooks/actions.py",
        "_reseal(endpoint, old, version - 1, key_ring)",
        "old",
        (
            (
                "tests/webhooks/test_rotation.py"
                "::test_resealing_moves_both_secrets_to_the_new_master_key"
            ),
        ),
    ),
    Mutant(
        "the audit shows the query of a URL",
        "webhooks/rules.py",
        '    return urlsplit(url)._replace(query="", fragment="").geturl()\n',
        "    return url\n",
        (
            (
                "tests/webhooks/test_endpoints.py"
                "::test_every_action_is_audited_with_actor_and_address_and_no_secret"
            ),
        ),
    ),
)
