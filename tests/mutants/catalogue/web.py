"""Mutants of `web`."""

from tests.mutants.mutant import Mutant

_KEYS = "tests/api_keys"
_ENDING = "tests/cli/test_ending.py"
_KEPT = "tests/web/test_resubmission.py"
_DOCUMENTATION = "tests/web/test_documentation.py"
_WEB_PAGES = "tests/web/test_pages.py"
_HOOK_PAGES = "tests/webhooks/test_pages.py"
_LOG_IN_PAGES = "tests/identity/test_pages.py"
_EVERY_PAGE = "tests/browser/test_every_page.py::test_no_page_runs_a_text_and_all_are_accessible"
_FRESH = "tests/identity/test_reauthentication.py"


MUTANTS: tuple[Mutant, ...] = (
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
        "a response with an ETag may be used without asking again",
        "web/envelope.py",
        '_NO_CACHE = (b"cache-control", b"private, no-cache")',
        '_NO_CACHE = (b"cache-control", b"public")',
        ("tests/deploy/test_caches.py::test_a_resource_with_an_etag_is_checked_each_time",),
    ),
    Mutant(
        "a page does not say that it depends on the cookie",
        "web/application.py",
        'b"cookie, accept-language"',
        'b"accept-language"',
        ("tests/web/test_caching.py::test_pages_are_private_for_every_visitor",),
    ),
    Mutant(
        "the query is sorted before it is signed",
        "web/request.py",
        'self.query: bytes = scope["query_string"]',
        'self.query: bytes = b"&".join(sorted(scope["query_string"].split(b"&")))',
        (f"{_KEYS}/test_guard_vectors.py::test_vector_is_accepted",),
    ),
    Mutant(
        "the idempotency record is written outside the transaction",
        "web/request.py",
        "        return await self._write(lambda tx: _respond_once(tx, once, work, self))\n",
        "        found = await self.read(lambda tx: idempotency.find(tx, once, self.now_us))\n"
        "        if found is not None:\n"
        "            return await self.write(\n"
        "                lambda tx: _respond_once(tx, once, work, self)\n"
        "            )\n"
        "        response = await self.write(work)\n"
        "        kept = [(n.decode(), v.decode()) for n, v in response.headers"
        " if n in _STORED_HEADERS]\n"
        "        record = StoredResponse(response.status, response.body, kept)\n"
        "        await self.write(lambda tx: idempotency.store(tx, once, record, self.now_us))\n"
        "        return response\n",
        (
            "tests/records/test_idempotency.py::test_eight_simultaneous_copies_are_executed_once",
            "tests/records/test_idempotency.py::test_a_change_is_rolled_back_when_its_response_cannot_be_stored",
        ),
    ),
    Mutant(
        "a write does not run the proof's part of the transaction",
        "web/request.py",
        "                await self.proof.in_transaction(tx)\n",
        "                pass\n",
        (
            f"{_KEYS}/test_replay.py::test_a_handler_that_only_writes_is_protected",
            "tests/test_routes.py::test_every_signed_write_accepts_a_signature_once",
        ),
    ),
    Mutant(
        "a retry that is signed again leaves its signature unused",
        "web/request.py",
        "    refusal: Unauthorized | None = None\n",
        "    refusal: Unauthorized | None = None\n"
        "    if (found := await idempotency.find(tx, once, request.now_us)) is not None:\n"
        "        return Response(found.status, found.body, [_REPLAYED])\n",
        (f"{_KEYS}/test_replay.py::test_a_retry_that_is_signed_again_uses_up_its_signature_too",),
    ),
    Mutant(
        "a used signature is accepted with another Idempotency-Key",
        "web/request.py",
        "    if refusal is not None:\n        raise refusal\n",
        "",
        (
            f"{_KEYS}/test_replay.py::test_of_eight_copies_under_eight_idempotency_keys_one_is_accepted",
        ),
    ),
    Mutant(
        "a node that is draining is ready",
        "web/status.py",
        "    if request.state.lifetime.is_draining:\n",
        "    if False:\n",
        (
            f"{_ENDING}::test_readyz_returns_503_while_requests_are_still_accepted",
            f"{_ENDING}::test_readyz_returns_503_before_the_port_closes_without_a_notice",
        ),
    ),
    Mutant(
        "a node that is draining does not close connections",
        "web/application.py",
        "    if request.state.lifetime.is_draining and not closes:\n",
        "    if False:\n",
        (f"{_ENDING}::test_readyz_returns_503_while_requests_are_still_accepted",),
    ),
    Mutant(
        "style sheets and scripts are compressed for who refuses it",
        "web/assets.py",
        "            if accepts_gzip(request):\n",
        "            if True:\n",
        (f"{_WEB_PAGES}::test_nothing_is_compressed_for_who_does_not_accept_it",),
    ),
    Mutant(
        "pages of the documentation may load anything",
        "web/documentation.py",
        "        headers += _PAGE_HEADERS\n",
        "        pass\n",
        (f"{_DOCUMENTATION}::test_pages_only_load_files_of_this_service",),
    ),
    Mutant(
        "the documentation is compressed for who refuses it",
        "web/documentation.py",
        "        if accepts_gzip(request):\n",
        "        if True:\n",
        (f"{_DOCUMENTATION}::test_every_file_is_served_with_its_type_whole_and_compressed",),
    ),
    Mutant(
        "style sheets are not cached",
        "web/assets.py",
        "IMMUTABLE if request.query == version.encode() else ",
        "",
        (f"{_WEB_PAGES}::test_assets_are_cached_until_they_change",),
    ),
    Mutant(
        "a form that could not be stored is lost",
        "web/pages/error_pages.py",
        "submitted = resubmission.of(request, return_paths.requested_path(request))",
        "submitted = None",
        (f"{_WEB_PAGES}::test_a_page_without_storage_says_so_and_reloads",),
    ),
    Mutant(
        "rendering a long page blocks the event loop",
        "web/pages/environment.py",
        "            await asyncio.sleep(0)\n",
        "            pass\n",
        ("tests/web/test_render.py::test_rendering_a_long_page_yields_to_the_event_loop",),
    ),
    Mutant(
        "pages may fetch data without a log-in",
        "web/pages/render.py",
        """(_MAY_FETCH if request.visitor else "")""",
        "_MAY_FETCH",
        ("tests/web/test_pages.py::test_every_page_has_a_strict_content_security_policy",),
    ),
    Mutant(
        "every language has the plural forms of English",
        "web/pages/i18n.py",
        "return _CATALOGUES[_active.get()].ngettext(singular, plural, count)",
        "return gettext(singular if count == 1 else plural)",
        ("tests/web/test_i18n.py::test_german_has_its_own_plurals_and_thousands_separator",),
    ),
    Mutant(
        "the weights in Accept-Language are ignored",
        "web/pages/language.py",
        "sorted(ranges, key=lambda each: -each[1])",
        "ranges",
        ("tests/web/test_i18n.py::test_a_page_has_the_language_that_the_browser_prefers",),
    ),
    Mutant(
        "any host name is put into a shell command",
        "web/pages/render.py",
        "host if _HOST.fullmatch(host) else 'desk.example.com'",
        "host",
        (f"{_KEYS}/test_pages.py::test_the_host_in_the_curl_command_is_safe_for_a_shell",),
    ),
    Mutant(
        "templates do not escape HTML",
        "web/pages/environment.py",
        "autoescape=True,",
        "autoescape=False,",
        (f"{_HOOK_PAGES}::test_hostile_text_is_shown_as_text",),
    ),
    Mutant(
        "the token of a form is not compared",
        "web/pages/forms.py",
        "    if not hmac.compare_digest(sent.encode(), token.encode()):\n",
        "    if not sent:\n",
        (f"{_WEB_PAGES}::test_forms_without_their_token_are_refused",),
    ),
    Mutant(
        "a sibling domain may send forms",
        "web/pages/forms.py",
        '_SAME_SITE = (b"same-origin", b"none")',
        '_SAME_SITE = (b"same-origin", b"same-site", b"none")',
        (f"{_WEB_PAGES}::test_forms_of_another_site_are_refused",),
    ),
    Mutant(
        "a log-in redirects to any path",
        "web/pages/return_paths.py",
        "is_page(request, path) and not path",
        'path.startswith("/") and not path',
        (f"{_LOG_IN_PAGES}::test_a_log_in_does_not_redirect_to_other_sites",),
    ),
    Mutant(
        "a page in a browser: a field has no label",
        "web/templates/pages/fields.html",
        '<label for="{{ name }}">{{ label }}</label>',
        "<div>{{ label }}</div>",
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a page in a browser: a typed value is not escaped",
        "web/templates/pages/fields.html",
        'value="{{ value }}"{{ aria_attributes(',
        'value="{{ value | safe }}"{{ aria_attributes(',
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a page in a browser: its own script has no nonce",
        "web/templates/pages/frame.html",
        ' nonce="{{ nonce }}" defer',
        " defer",
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a page in a browser: scripts need no nonce",
        "web/pages/render.py",
        "script-src 'nonce-{nonce}'",
        "script-src 'self' 'unsafe-inline'",
        ("tests/browser/test_every_page.py::test_a_text_that_runs_without_a_policy_is_noticed",),
    ),
    Mutant(
        "a page in a browser: too little contrast in dark mode",
        "web/static/desk/base.css",
        "--soft: #a4b2b5;",
        "--soft: #4d585a;",
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a page in a browser: wider than a phone",
        "web/static/desk/base.css",
        "body { margin: 0; overflow-wrap: anywhere; }",
        "body { margin: 0; }",
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a page in a browser: another site may send forms",
        "web/pages/forms.py",
        '_SAME_SITE = (b"same-origin", b"none")',
        '_SAME_SITE = (b"same-origin", b"same-site", b"cross-site", b"none")',
        ("tests/browser/test_other_sites.py::test_requests_of_other_sites_change_nothing",),
    ),
    Mutant(
        "a page in a browser: of two session cookies, the last one is used",
        "web/request.py",
        "return values[0] if len(values) == 1 else None",
        "return values[-1] if values else None",
        ("tests/browser/test_other_sites.py::test_another_site_cannot_set_a_session_cookie",),
    ),
    Mutant(
        "a write with a pending refusal is carried out",
        "web/request.py",
        "            raise self.proof.pending_refusal\n",
        "            pass\n",
        (
            f"{_FRESH}::test_every_lasting_change_needs_reauthentication",
            f"{_FRESH}::test_guesses_are_counted_together_with_failed_log_ins",
        ),
    ),
    Mutant(
        "a form that is sent with an expired session is lost",
        "web/pages/error_pages.py",
        "if submitted is not None and submitted.typed and return_paths",
        "if submitted is not None and not submitted.typed and return_paths",
        (
            f"{_KEPT}::test_a_form_sent_with_an_expired_session_is_kept_for_the_next_log_in",
            f"{_KEPT}::test_every_form_is_kept_without_its_passwords",
        ),
    ),
    Mutant(
        "passwords are written into the page of a kept form",
        "web/pages/resubmission.py",
        "left_out = {*PASSWORDS, forms.TOKEN}",
        "left_out = {forms.TOKEN}",
        (f"{_KEPT}::test_every_form_is_kept_without_its_passwords",),
    ),
    Mutant(
        "a form of an earlier log-in is lost",
        "web/pages/error_pages.py",
        "    elif not is_outage:\n        submitted = None\n",
        "    if not is_outage:\n        submitted = None\n",
        (f"{_KEPT}::test_a_form_of_an_earlier_log_in_is_kept",),
    ),
    Mutant(
        "a kept form may be too large for the log-in form",
        "web/pages/resubmission.py",
        "_MAX_BYTES = MAX_BODY_BYTES - 8 * 1024",
        "_MAX_BYTES = MAX_BODY_BYTES",
        (f"{_KEPT}::test_a_form_too_large_for_the_log_in_form_is_not_kept",),
    ),
    Mutant(
        "an open page does not report an expired session",
        "web/static/desk/poll.js",
        'if (response.type !== "opaqueredirect") ended',
        "if (response.type) ended",
        ("tests/browser/test_left_open.py::test_an_open_page_says_that_its_session_has_ended",),
    ),
    Mutant(
        "keyboard shortcuts cannot be turned off",
        "web/static/desk/keys.js",
        " || event.altKey || areShortcutsOff()",
        " || event.altKey",
        ("tests/browser/test_shortcuts.py::test_single_key_shortcuts_stay_off_once_turned_off",),
    ),
    Mutant(
        "the check box of a ticket is too small for touch",
        "web/static/desk/media.css",
        ".tickets .pick { width: 1.6rem; height: 1.6rem; }",
        ".tickets .pick { width: 1.1rem; height: 1.1rem; }",
        (
            "tests/browser/test_inbox.py::test_without_scripts_many_tickets_are_changed_after_a_preview",
        ),
    ),
    Mutant(
        "JSON bodies may have any number of values",
        "web/body.py",
        "    if _has_too_many_values(body):\n",
        "    if False:\n",
        ("tests/web/test_json_parsing.py::test_as_many_values_as_allowed_are_read",),
    ),
    Mutant(
        "commas in a text count as values",
        "web/body.py",
        """b"".join(unescaped.split(b'"')[::2])""",
        "unescaped",
        ("tests/web/test_json_parsing.py::test_texts_may_hold_what_separates_values",),
    ),
    Mutant(
        "the commands for a POST leave out its body",
        "web/snippets/__init__.py",
        "    if body == \"''\":\n",
        "    if body:\n",
        ("tests/browser/test_keys.py::test_the_command_for_a_first_ticket_works_as_it_is_pasted",),
    ),
)
