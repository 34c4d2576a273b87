"""Mutants of `identity`."""

from tests.mutants.mutant import Mutant

_PEOPLE = "tests/identity/test_people_pages.py"
_ACCOUNT = "tests/identity/test_account_pages.py"
_NEW_PASSWORDS = "tests/identity/test_new_passwords.py"
_LOG_IN_AUDIT = "tests/identity/test_log_in_audit.py"
_RECORDED_IN_BACKGROUND = (
    "test_a_failure_is_recorded_after_the_response_and_before_the_process_ends"
)
_LOG_IN_PAGES = "tests/identity/test_pages.py"
_TWO_FACTOR = "tests/identity/test_two_factor.py"
_REAUTHENTICATION = "tests/identity/test_reauthentication.py"
_RESUBMISSION = "tests/web/test_resubmission.py"
_TOKENS = "tests/identity/test_tokens.py"
_CLOCK_JUMPS = "tests/identity/test_clock_jumps.py"
_THROTTLE = "tests/identity/test_throttle.py"
_INVITATIONS = "tests/identity/test_invitations.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "large forms without a session are read at once",
        "identity/auth/session_guard.py",
        "    if _is_large(request) and not _has_token(request):\n",
        "    if False:\n",
        (
            "tests/identity/test_large_forms.py"
            "::test_large_forms_of_one_network_are_refused_beyond_a_few",
        ),
    ),
    Mutant(
        "a reset link logs in, not only an invitation",
        "identity/pages/login.py",
        "    if user.password_hash is None:\n",
        "    if True:\n",
        (f"{_LOG_IN_PAGES}::test_a_reset_link_sets_a_password_once",),
    ),
    Mutant(
        "the password alone logs a user with a second factor in",
        "identity/auth/login.py",
        "    if is_log_in and await two_factor.needs_code(request, user):\n",
        "    if code and await two_factor.needs_code(request, user):\n",
        (f"{_TWO_FACTOR}::test_a_log_in_through_the_api_needs_the_code",),
    ),
    Mutant(
        "a code of an authenticator app works twice",
        "identity/two_factor/actions.py",
        "msgspec.structs.replace(factor, last_step=step))",
        "factor)",
        (f"{_TWO_FACTOR}::test_a_code_works_once",),
    ),
    Mutant(
        "a recovery code works twice",
        "identity/two_factor/actions.py",
        "if one != code_hash)",
        "if one)",
        (f"{_TWO_FACTOR}::test_a_recovery_code_replaces_the_app_once",),
    ),
    Mutant(
        "codes may be guessed without a limit",
        "identity/auth/two_factor.py",
        "    await database.write(lambda tx: actions.count_code(tx, user, now_us=now_us))\n",
        "",
        (f"{_TWO_FACTOR}::test_wrong_codes_are_limited_for_the_user",),
    ),
    Mutant(
        "the second step of a log-in outlives a change of the password",
        "identity/auth/two_factor.py",
        "            rules.fingerprint(password_hash) == self.password_fingerprint\n",
        "            len(password_hash) > 0\n",
        (f"{_TWO_FACTOR}::test_the_second_step_ends_with_a_new_password",),
    ),
    Mutant(
        "a code used while the clock was ahead refuses all codes until then",
        "identity/two_factor/rules.py",
        "    return step <= factor.last_step <= step + 2 * _WINDOW_STEPS\n",
        "    return step <= factor.last_step\n",
        (f"{_TWO_FACTOR}::test_a_code_used_while_the_clock_was_ahead_locks_nobody_out",),
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
        "a deactivated user can log in",
        "identity/auth/login.py",
        "    if user is None or not user.is_active or not is_proven:\n",
        "    if user is None or not is_proven:\n",
        (f"{_PEOPLE}::test_a_deactivated_user_is_logged_out_at_once_and_their_work_stays",),
    ),
    Mutant(
        "the last administrator can be removed",
        "identity/people/store.py",
        "    AND u.password_hash IS NOT NULL AND u.role =",
        "    AND u.role =",
        (f"{_PEOPLE}::test_the_last_administrator_cannot_lock_everybody_out",),
    ),
    Mutant(
        "a tenant_admin makes a super_admin",
        "identity/rules.py",
        'for role in ROLES if "super_admin" in may or role != "super_admin")',
        "for role in ROLES)",
        (
            f"{_PEOPLE}::test_nobody_assigns_a_role_above_their_own",
            f"{_PEOPLE}::test_an_administrator_cannot_change_a_super_admin",
        ),
    ),
    Mutant(
        "an invitation does not expire",
        "identity/actions.py",
        "expires_at=now_us + life_us",
        "expires_at=now_us + 1000 * life_us",
        (f"{_PEOPLE}::test_an_invitation_is_valid_for_a_week_and_a_reset_link_for_an_hour",),
    ),
    Mutant(
        "a session is renewed without end",
        "identity/rules.py",
        "login_at // 1_000_000 + SESSION_LIFE_S)",
        "now_us // 1_000_000 + SESSION_LIFE_S)",
        (f"{_ACCOUNT}::test_a_session_lasts_while_its_user_is_active_up_to_12_hours",),
    ),
    Mutant(
        "a log-out is deleted before a renewed token expires",
        "identity/actions.py",
        "    await store.end_token(tx, token.id, rules.session_end(token.issued_at))\n",
        "    await store.end_token(tx, token.id, token.expires_at)\n",
        (f"{_ACCOUNT}::test_a_log_out_is_stored_until_the_session_could_no_longer_be_renewed",),
    ),
    Mutant(
        "a renewed token has a new id",
        "identity/auth/login.py",
        "        user, secret, token_id=token.id, login_at",
        "        user, secret, token_id=ids.mint(request.now_us), login_at",
        (
            f"{_ACCOUNT}::test_a_form_opened_before_a_renewal_can_be_submitted",
            f"{_ACCOUNT}::test_logging_out_ends_all_tokens_of_the_session",
        ),
    ),
    Mutant(
        "the audit log does not say for whom a link was created",
        "identity/actions.py",
        '    entry = AuditEntry(action, actor, address, user.id, {"email": user.email})\n',
        "    entry = AuditEntry(action, actor, address, user.id)\n",
        (f"{_PEOPLE}::test_an_invited_agent_sets_a_password_and_works",),
    ),
    Mutant(
        "a common password is accepted",
        "identity/auth/passwords.py",
        'Fault("/new", "common_password", _TOO_COMMON) if _is_common(password) else None',
        "None",
        (f"{_NEW_PASSWORDS}::test_a_common_password_is_refused_and_the_old_one_stays",),
    ),
    Mutant(
        "the response to a failed log-in waits for the audit entry",
        "identity/auth/login.py",
        "        _start_recording_failure(request, user, is_log_in=is_log_in)\n"
        "        raise actions",
        "        entry = user and _failed_log_in_entry(user, request.address, 'api')\n"
        "        user and await _record_failure(request.state, user.tenant_id, entry, now_us)\n"
        "        raise actions",
        (f"{_LOG_IN_AUDIT}::{_RECORDED_IN_BACKGROUND}",),
    ),
    Mutant(
        "a reauthentication is recorded in the audit log as a log-in",
        "identity/auth/login.py",
        "channel=_channel(request) if is_log_in else None",
        "channel=_channel(request)",
        (f"{_LOG_IN_AUDIT}::test_a_reauthentication_is_not_audited_as_a_log_in",),
    ),
    Mutant(
        "an administrator renames a super_admin",
        "identity/people/actions.py",
        "    user = await _lock_user(tx, caller, user_id)\n    if user.name == name:\n",
        "    user = await get_user(tx, caller, user_id)\n    if user.name == name:\n",
        (f"{_PEOPLE}::test_an_administrator_cannot_change_a_super_admin",),
    ),
    Mutant(
        "scripts can read the session cookie",
        "identity/auth/session.py",
        '"Path=/; HttpOnly; SameSite=Lax"',
        '"Path=/; SameSite=Lax"',
        (
            f"{_LOG_IN_PAGES}::test_the_cookie_is_for_this_host_and_not_for_scripts",
            f"{_LOG_IN_PAGES}::test_on_https_the_cookie_is_secure_and_bound_to_the_host",
        ),
    ),
    Mutant(
        "logging out only deletes the cookie",
        "identity/pages/login.py",
        'from the next request on."""\n    await login.log_out(request, session.get(request))\n',
        'from the next request on."""\n',
        (f"{_LOG_IN_PAGES}::test_after_logging_out_the_cookie_is_invalid",),
    ),
    Mutant(
        "keys are changed without reauthentication",
        "identity/auth/session_guard.py",
        "if self.needs_reauthentication and not is_recent:",
        "if False:",
        (f"{_REAUTHENTICATION}::test_every_lasting_change_needs_reauthentication",),
    ),
    Mutant(
        "a renewed session counts as a recent log-in",
        "identity/auth/session.py",
        "    return request.now_us - token.issued_at <= _RECENT_LOGIN_US\n",
        "    return request.now_us + 3_600_000_000 - token.expires_at <= _RECENT_LOGIN_US\n",
        (f"{_REAUTHENTICATION}::test_renewing_a_session_is_not_a_recent_log_in",),
    ),
    Mutant(
        "the earlier session survives a reauthentication",
        "identity/auth/reauthentication.py",
        "    await login.end_session(request, token)\n",
        "",
        (
            f"{_REAUTHENTICATION}::test_the_right_password_begins_a_session_and_ends_the_earlier_one",
        ),
    ),
    Mutant(
        "a wrong password loses the submitted form",
        "identity/pages/login.py",
        "request, next_path, typed=typed, email=email, error=error",
        "request, next_path, email=email, error=error",
        (f"{_RESUBMISSION}::test_a_form_sent_with_an_expired_session_is_kept_for_the_next_log_in",),
    ),
    Mutant(
        "a log-in submits a form to any address",
        "identity/pages/login.py",
        "typed if typed is not None and return_paths.is_page(request, typed.to) else None",
        "typed",
        (f"{_RESUBMISSION}::test_a_kept_form_is_sent_only_to_pages_of_this_service",),
    ),
    Mutant(
        "a log-in without storage loses the submitted form",
        "identity/pages/login.py",
        "except (ValidationFailed, Unauthorized, TooManyRequests, ServiceUnavailable) as error:",
        "except (ValidationFailed, Unauthorized, TooManyRequests) as error:",
        (
            f"{_RESUBMISSION}::test_a_log_in_without_storage_keeps_the_form",
            "tests/test_faults.py::test_pages_keep_a_form_that_a_full_disk_cannot_store",
        ),
    ),
    Mutant(
        "a token may be spelled differently",
        "identity/auth/tokens.py",
        "    if _CANONICAL.fullmatch(text) is None:\n",
        "    if not text:\n",
        (f"{_TOKENS}::test_a_token_has_one_spelling",),
    ),
    Mutant(
        "a changed password leaves the tokens of the user valid",
        "identity/store.py",
        "SET password_hash = :password_hash, token_version = token_version + 1\n",
        "SET password_hash = :password_hash\n",
        (
            f"{_CLOCK_JUMPS}::test_tokens_are_valid_after_a_password_was_changed_ahead_of_time",
            f"{_CLOCK_JUMPS}"
            "::test_a_token_from_before_a_change_stays_invalid_after_the_clock_is_back",
        ),
    ),
    Mutant(
        "a token that was issued ahead of time lasts until its own expiry",
        "identity/auth/tokens.py",
        " or token.issued_at > now_us + rules.MAX_CLOCK_SKEW_US:",
        ":",
        (f"{_CLOCK_JUMPS}::test_a_token_that_was_issued_ahead_of_time_does_not_last_longer",),
    ),
    Mutant(
        "a guesser in an IPv6 network is counted by address",
        "web/client_address.py",
        "for bits in (64, 48))",
        "for bits in (128, 128))",
        (
            f"{_THROTTLE}::test_guesses_from_one_ipv6_network_are_counted_together",
            f"{_THROTTLE}::test_networks_of_one_site_are_counted_together",
        ),
    ),
    Mutant(
        "the limit over all locks owners out",
        "identity/rules.py",
        "    if not is_known_network:\n",
        "    if True:\n",
        (
            f"{_THROTTLE}::test_over_a_thousand_failures_in_all_only_known_networks_are_evaluated",
            f"{_THROTTLE}::test_unknown_addresses_cannot_lock_out_a_known_one",
        ),
    ),
    Mutant(
        "there is no limit over all",
        "identity/rules.py",
        "FailureLimit(FROM_ANYWHERE, 1000,",
        "FailureLimit(FROM_ANYWHERE, 100_000,",
        (f"{_THROTTLE}::test_over_a_thousand_failures_in_all_only_known_networks_are_evaluated",),
    ),
    Mutant(
        "a reset leaves the failures of the account",
        "identity/actions.py",
        "    await store.delete_buckets(tx, *rules.account_buckets(user.email))\n",
        "",
        (f"{_THROTTLE}::test_a_reset_ends_the_limits_of_the_account",),
    ),
    Mutant(
        "the network of a reset stays unknown",
        "identity/actions.py",
        "networks_of(address)[0], now_us)\n    actor =",
        '"", now_us)\n    actor =',
        (f"{_THROTTLE}::test_a_reset_ends_the_limits_of_the_account",),
    ),
    Mutant(
        "a reset deletes the failures of other accounts",
        "identity/rules.py",
        'start[:-1] + "!"',
        '"account !"[:-1] + "~"',
        (f"{_THROTTLE}::test_a_reset_does_not_end_the_limits_of_other_accounts",),
    ),
    Mutant(
        "failures ahead of time hold until then",
        "identity/store.py",
        " AND id > :since AND id < :until\n",
        " AND id > :since AND :until <> ''\n",
        (f"{_CLOCK_JUMPS}::test_failures_ahead_of_time_lock_nobody_out",),
    ),
    Mutant(
        "a lock lasts longer than its period",
        "identity/store.py",
        'min(row["failed_at"], now_us)',
        'row["failed_at"]',
        (f"{_CLOCK_JUMPS}::test_a_lock_never_lasts_longer_than_its_period",),
    ),
    Mutant(
        "failures ahead of time are kept",
        "identity/store.py",
        " OR failed_at > :after\n",
        " AND failed_at < :after\n",
        (f"{_CLOCK_JUMPS}::test_failures_ahead_of_time_are_deleted",),
    ),
    Mutant(
        "log-ins from one address may take all threads",
        "state.py",
        "per_tenant=MAX_PASSWORD_CHECKS // 2",
        "per_tenant=MAX_PASSWORD_CHECKS",
        (
            "tests/identity/test_log_in_turns.py"
            "::test_log_ins_from_one_address_leave_threads_to_others",
        ),
    ),
    Mutant(
        "an invitation takes the address at once",
        "identity/actions.py",
        "    may_log_in = password_hash is not None\n",
        "    may_log_in = True\n",
        (
            f"{_INVITATIONS}::test_an_invitation_that_is_not_accepted_holds_no_address",
            f"{_INVITATIONS}::test_inviting_does_not_tell_whether_another_desk_has_the_address",
        ),
    ),
    Mutant(
        "an invitation is accepted after another one",
        "identity/actions.py",
        "    if user.password_hash is None and not await store.claim_email(tx, user):\n",
        "    if False:\n",
        (
            f"{_INVITATIONS}::test_who_accepts_first_has_the_address",
            f"{_INVITATIONS}::test_of_two_acceptances_at_once_one_succeeds",
        ),
    ),
    Mutant(
        "invitations are not limited",
        "identity/people/actions.py",
        "        if until is None:\n",
        "        if until is None or now_us:\n",
        (
            f"{_INVITATIONS}::test_invitations_within_an_hour_are_limited",
            f"{_INVITATIONS}::test_pending_invitations_are_limited_until_they_expire",
        ),
    ),
    Mutant(
        "a released user can still log in",
        "identity/people/store.py",
        "SET password_hash = NULL, token_version = token_version + 1\n",
        "SET token_version = token_version\n",
        (f"{_INVITATIONS}::test_a_released_user_is_logged_out_and_can_be_invited_again",),
    ),
)
