"""Mutants of `identity`."""

from tests.mutants.mutant import Mutant

_PEOPLE = "tests/identity/test_people_pages.py"
_ACCOUNT = "tests/identity/test_account_pages.py"
_NEW_PASSWORDS = "tests/identity/test_new_passwords.py"
_CAME_IN = "tests/identity/test_log_in_audit.py"
_BEHIND_THE_ANSWER = "test_a_failure_is_noted_behind_its_answer_and_before_the_process_ends"
_LOG_IN_PAGES = "tests/identity/test_pages.py"
_FRESH = "tests/identity/test_reauthentication.py"
_KEPT = "tests/web/test_resubmission.py"


MUTANTS: tuple[Mutant, ...] = (
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
        "who is deactivated logs in again",
        "identity/auth/login.py",
        "    if user is None or not user.is_active or not is_right:\n",
        "    if user is None or not is_right:\n",
        (f"{_PEOPLE}::test_who_is_deactivated_is_out_at_once_and_their_work_stays",),
    ),
    Mutant(
        "the last administrator may go",
        "identity/store.py",
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
            f"{_PEOPLE}::test_nobody_raises_anybody_above_their_own_role",
            f"{_PEOPLE}::test_who_is_above_is_not_changed_from_below",
        ),
    ),
    Mutant(
        "an invitation never ends",
        "identity/actions.py",
        "expires_at=now_us + life_us",
        "expires_at=now_us + 1000 * life_us",
        (f"{_PEOPLE}::test_an_invitation_holds_for_a_week_and_a_reset_link_for_an_hour",),
    ),
    Mutant(
        "a session is renewed for ever",
        "identity/rules.py",
        "login_at // 1_000_000 + SESSION_LIFE_S)",
        "now_us // 1_000_000 + SESSION_LIFE_S)",
        (f"{_ACCOUNT}::test_a_session_lasts_while_somebody_works_and_no_longer",),
    ),
    Mutant(
        "a log-out is forgotten before a renewed token ends",
        "identity/auth/login.py",
        "    ends_at = rules.session_end(token.issued_at)\n",
        "    ends_at = token.expires_at\n",
        (f"{_ACCOUNT}::test_a_log_out_is_remembered_as_long_as_a_copy_could_be_renewed",),
    ),
    Mutant(
        "a renewed token is a log-in of its own",
        "identity/auth/login.py",
        "        user, secret, token_id=token.id, login_at",
        "        user, secret, token_id=ids.mint(request.now_us), login_at",
        (
            f"{_ACCOUNT}::test_a_page_of_before_can_still_send_its_form",
            f"{_ACCOUNT}::test_logging_out_ends_the_tokens_of_before_and_those_that_renewed_them",
        ),
    ),
    Mutant(
        "the audit does not say who got a link",
        "identity/actions.py",
        '    entry = AuditEntry(action, actor, address, user.id, {"email": user.email})\n',
        "    entry = AuditEntry(action, actor, address, user.id)\n",
        (f"{_PEOPLE}::test_an_invited_agent_sets_a_password_and_works",),
    ),
    Mutant(
        "a common password is taken",
        "identity/auth/passwords.py",
        'Fault("/new", "common_password", _TOO_COMMON) if _is_common(password) else None',
        "None",
        (f"{_NEW_PASSWORDS}::test_a_common_password_is_refused_and_the_old_one_stays",),
    ),
    Mutant(
        "a failed log-in of a user takes as long as noting it",
        "identity/auth/login.py",
        "request.state.background_tasks.start(\n"
        "                _record_failure(request.state, user.tenant_id, entry, now_us)\n"
        "            )\n",
        "await _record_failure(request.state, user.tenant_id, entry, now_us)\n",
        (f"{_CAME_IN}::{_BEHIND_THE_ANSWER}",),
    ),
    Mutant(
        "a reauthentication is recorded in the audit log as a log-in",
        "identity/auth/login.py",
        "how=how if is_log_in else None",
        "how=how",
        (f"{_CAME_IN}::test_a_password_asked_for_again_is_no_log_in",),
    ),
    Mutant(
        "who is above is renamed from below",
        "identity/people/actions.py",
        "    user = await _lock_user(tx, caller, user_id)\n    if user.name == name:\n",
        "    user = await get_user(tx, caller, user_id)\n    if user.name == name:\n",
        (f"{_PEOPLE}::test_who_is_above_is_not_changed_from_below",),
    ),
    Mutant(
        "scripts may read the session",
        "identity/auth/session.py",
        '"Path=/; HttpOnly; SameSite=Lax"',
        '"Path=/; SameSite=Lax"',
        (
            f"{_LOG_IN_PAGES}::test_the_cookie_is_for_this_host_and_no_script",
            f"{_LOG_IN_PAGES}::test_on_https_the_cookie_is_secure_and_bound_to_the_host",
        ),
    ),
    Mutant(
        "logging out only forgets the cookie",
        "identity/pages/login.py",
        'wherever its token may be."""\n    await login.log_out(request, session.get(request))\n',
        'wherever its token may be."""\n',
        (f"{_LOG_IN_PAGES}::test_after_logging_out_the_cookie_opens_nothing",),
    ),
    Mutant(
        "an old log-in changes keys",
        "identity/auth/session_guard.py",
        "if self.needs_reauthentication and not is_recent:",
        "if False:",
        (f"{_FRESH}::test_everything_that_outlasts_a_log_in_asks_and_else_changes_nothing",),
    ),
    Mutant(
        "a renewed session is taken for a fresh log-in",
        "identity/auth/session.py",
        "    return request.now_us - token.issued_at <= _RECENT_LOGIN_US\n",
        "    return request.now_us + 3_600_000_000 - token.expires_at <= _RECENT_LOGIN_US\n",
        (f"{_FRESH}::test_a_session_that_was_renewed_is_no_fresher",),
    ),
    Mutant(
        "the session of before outlives the password",
        "identity/auth/reauthentication.py",
        "    await login.end_session(request, token)\n",
        "",
        (f"{_FRESH}::test_the_right_password_begins_a_session_and_ends_the_one_before",),
    ),
    Mutant(
        "a wrong password loses what was typed before",
        "identity/pages/login.py",
        "return await _show_login(request, wanted, typed=typed, email=email, refusal=refusal)",
        "return await _show_login(request, wanted, email=email, refusal=refusal)",
        (f"{_KEPT}::test_a_form_sent_with_an_expired_session_is_kept_for_the_next_log_in",),
    ),
    Mutant(
        "a log-in sends what it carries anywhere",
        "identity/pages/login.py",
        "typed if typed is not None and return_paths.is_page(request, typed.to) else None",
        "typed",
        (f"{_KEPT}::test_a_kept_form_is_sent_only_to_pages_of_this_service",),
    ),
    Mutant(
        "a log-in without storage loses what it carries",
        "identity/pages/login.py",
        "except (ValidationFailed, Unauthorized, TooManyRequests, ServiceUnavailable) as refusal:",
        "except (ValidationFailed, Unauthorized, TooManyRequests) as refusal:",
        (
            f"{_KEPT}::test_a_log_in_without_storage_keeps_the_form",
            "tests/test_faults.py::test_pages_keep_a_form_that_a_full_disk_cannot_store",
        ),
    ),
)
