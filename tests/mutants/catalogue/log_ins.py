"""Mutants of log-ins: passwords, second factors, sessions, and forms."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "an upload of a page needs no form token",
        "identity/auth/session_guard.py",
        "        forms.check_token_header(request, session.form_token(request, token))\n",
        "",
        ("tests/tickets/test_uploads_of_pages.py::test_another_site_cannot_upload",),
    ),
    Mutant(
        "a form of another site writes a reply",
        "mail/contact_form/guard.py",
        "            forms.check_site(request)\n        elif",
        "            pass\n        elif",
        (
            (
                "tests/mail/contact_form/test_customer_page.py"
                "::test_a_form_of_another_site_and_one_sent_twice_write_nothing"
            ),
        ),
    ),
    Mutant(
        "erasing needs no recent password",
        "routes/table.py",
        '"/customers/{id}/erase", _REAUTHENTICATED,',
        '"/customers/{id}/erase", _ADMIN_PAGE,',
        (
            (
                "tests/identity/test_reauthentication.py"
                "::test_every_lasting_change_needs_reauthentication"
            ),
        ),
    ),
    Mutant(
        "a reset link logs in, not only an invitation",
        "identity/pages/login.py",
        "    if user.password_hash is None:\n",
        "    if True:\n",
        ("tests/identity/test_pages.py::test_a_reset_link_sets_a_password_once",),
    ),
    Mutant(
        "the password alone logs a user with a second factor in",
        "identity/auth/login.py",
        "    if is_log_in and await two_factor.needs_code(request, user):\n",
        "    if code and await two_factor.needs_code(request, user):\n",
        ("tests/identity/test_two_factor.py::test_a_log_in_through_the_api_needs_the_code",),
    ),
    Mutant(
        "a code of an authenticator app works twice",
        "identity/two_factor/actions.py",
        "msgspec.structs.replace(factor, last_step=step))",
        "factor)",
        ("tests/identity/test_two_factor.py::test_a_code_works_once",),
    ),
    Mutant(
        "a recovery code works twice",
        "identity/two_factor/actions.py",
        "if one != code_hash)",
        "if one)",
        ("tests/identity/test_two_factor.py::test_a_recovery_code_replaces_the_app_once",),
    ),
    Mutant(
        "codes may be guessed without a limit",
        "identity/auth/two_factor.py",
        "    await database.write(lambda tx: actions.count_code(tx, user, now_us=now_us))\n",
        "",
        ("tests/identity/test_two_factor.py::test_wrong_codes_are_limited_for_the_user",),
    ),
    Mutant(
        "the second step of a log-in outlives a change of the password",
        "identity/auth/two_factor.py",
        "            rules.fingerprint(password_hash) == self.password_fingerprint\n",
        "            len(password_hash) > 0\n",
        ("tests/identity/test_two_factor.py::test_the_second_step_ends_with_a_new_password",),
    ),
    Mutant(
        "a deactivated user can log in",
        "identity/auth/login.py",
        "    if user is None or not user.is_active or not is_proven:\n",
        "    if user is None or not is_proven:\n",
        (
            (
                "tests/identity/test_people_pages.py"
                "::test_a_deactivated_user_is_logged_out_at_once_and_their_work_stays"
            ),
        ),
    ),
    Mutant(
        "an invitation does not expire",
        "identity/actions.py",
        "expires_at=now_us + life_us",
        "expires_at=now_us + 1000 * life_us",
        (
            (
                "tests/identity/test_people_pages.py"
                "::test_an_invitation_is_valid_for_a_week_and_a_reset_link_for_an_hour"
            ),
        ),
    ),
    Mutant(
        "a session is renewed without end",
        "identity/rules.py",
        "login_at // 1_000_000 + SESSION_LIFE_S)",
        "now_us // 1_000_000 + SESSION_LIFE_S)",
        (
            (
                "tests/identity/test_account_pages.py"
                "::test_a_session_lasts_while_its_user_is_active_up_to_12_hours"
            ),
        ),
    ),
    Mutant(
        "a log-out is deleted before a renewed token expires",
        "identity/actions.py",
        "    await store.end_token(tx, token.id, rules.session_end(token.issued_at))\n",
        "    await store.end_token(tx, token.id, token.expires_at)\n",
        (
            (
                "tests/identity/test_account_pages.py"
                "::test_a_log_out_is_stored_until_the_session_could_no_longer_be_renewed"
            ),
        ),
    ),
    Mutant(
        "scripts can read the session cookie",
        "identity/auth/session.py",
        '"Path=/; HttpOnly; SameSite=Lax"',
        '"Path=/; SameSite=Lax"',
        (
            "tests/identity/test_pages.py::test_the_cookie_is_for_this_host_and_not_for_scripts",
            (
                "tests/identity/test_pages.py"
                "::test_on_https_the_cookie_is_secure_and_bound_to_the_host"
            ),
        ),
    ),
    Mutant(
        "logging out only deletes the cookie",
        "identity/pages/login.py",
        'from the next request on."""\n    await login.log_out(request, session.get(request))\n',
        'from the next request on."""\n',
        ("tests/identity/test_pages.py::test_after_logging_out_the_cookie_is_invalid",),
    ),
    Mutant(
        "keys are changed without reauthentication",
        "identity/auth/session_guard.py",
        "if self.needs_reauthentication and not is_recent:",
        "if False:",
        (
            (
                "tests/identity/test_reauthentication.py"
                "::test_every_lasting_change_needs_reauthentication"
            ),
        ),
    ),
    Mutant(
        "the earlier session survives a reauthentication",
        "identity/auth/reauthentication.py",
        "    await login.end_session(request, token)\n",
        "",
        (
            (
                "tests/identity/test_reauthentication.py"
                "::test_the_right_password_begins_a_session_and_ends_the_earlier_one"
            ),
        ),
    ),
    Mutant(
        "a token may be spelled differently",
        "identity/auth/tokens.py",
        "    if _CANONICAL.fullmatch(text) is None:\n",
        "    if not text:\n",
        ("tests/identity/test_tokens.py::test_a_token_has_one_spelling",),
    ),
    Mutant(
        "a changed password leaves the tokens of the user valid",
        "identity/store.py",
        "SET password_hash = :password_hash, token_version = token_version + 1\n",
        "SET password_hash = :password_hash\n",
        (
            (
                "tests/identity/test_clock_jumps.py"
                "::test_tokens_are_valid_after_a_password_was_changed_ahead_of_time"
            ),
            (
                "tests/identity/test_clock_jumps.py"
                "::test_a_token_from_before_a_change_stays_invalid_after_the_clock_is_back"
            ),
        ),
    ),
    Mutant(
        "a token that was issued ahead of time lasts until its own expiry",
        "identity/auth/tokens.py",
        " or token.issued_at > now_us + rules.MAX_CLOCK_SKEW_US:",
        ":",
        (
            (
                "tests/identity/test_clock_jumps.py"
                "::test_a_token_that_was_issued_ahead_of_time_does_not_last_longer"
            ),
        ),
    ),
    Mutant(
        "an invitation takes the address at once",
        "identity/actions.py",
        "    may_log_in = password_hash is not None\n",
        "    may_log_in = True\n",
        (
            (
                "tests/identity/test_invitations.py"
                "::test_an_invitation_that_is_not_accepted_holds_no_address"
            ),
            (
                "tests/identity/test_invitations.py"
                "::test_inviting_does_not_tell_whether_another_desk_has_the_address"
            ),
        ),
    ),
    Mutant(
        "a released user can still log in",
        "identity/people/store.py",
        "SET password_hash = NULL, token_version = token_version + 1\n",
        "SET token_version = token_version\n",
        (
            (
                "tests/identity/test_invitations.py"
                "::test_a_released_user_is_logged_out_and_can_be_invited_again"
            ),
        ),
    ),
    Mutant(
        "a stream goes on after the log-out",
        "event_log/streams.py",
        "                    each.end()\n",
        "                    pass\n",
        (
            (
                "tests/tickets/live/test_stream.py"
                "::test_logging_out_ends_the_streams_of_the_session_only"
            ),
            "tests/tickets/live/test_stream.py::test_a_deactivated_user_is_told_nothing_more",
            "tests/tickets/live/test_stream.py::test_a_role_that_changes_ends_the_stream",
        ),
    ),
    Mutant(
        "the token of a form is not compared",
        "web/pages/forms.py",
        "    if not hmac.compare_digest(sent.encode(), token.encode()):\n",
        "    if not sent:\n",
        ("tests/web/test_pages.py::test_forms_without_their_token_are_refused",),
    ),
    Mutant(
        "a sibling domain may send forms",
        "web/pages/forms.py",
        '_SAME_SITE = (b"same-origin", b"none")',
        '_SAME_SITE = (b"same-origin", b"same-site", b"none")',
        ("tests/web/test_pages.py::test_forms_of_another_site_are_refused",),
    ),
    Mutant(
        "passwords are written into the page of a kept form",
        "web/pages/resubmission.py",
        "left_out = {*PASSWORDS, forms.TOKEN}",
        "left_out = {forms.TOKEN}",
        ("tests/web/test_resubmission.py::test_every_form_is_kept_without_its_passwords",),
    ),
)
