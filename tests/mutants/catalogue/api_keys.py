"""Mutants of `api_keys`."""

from tests.mutants.mutant import Mutant

_KEYS = "tests/api_keys"
_RESILIENCE = "tests/resilience/test_resilience.py"
_GUARD = "api_keys/guard/signed.py"
_TEST_MODE = f"{_KEYS}/test_test_mode.py"
_USAGE = f"{_KEYS}/test_usage.py"
_STAMP = "db/migrations/versions/0014_key_stamp.py"
_STAMP_TEST = f"{_KEYS}/test_key_stamp.py"
_KNOWN = f"{_KEYS}/test_known_keys.py"
_REAUTHENTICATION = "tests/identity/test_reauthentication.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "the time of a test tenant is used before the signature is checked",
        _GUARD,
        "server_time = request.now_us // 1_000_000",
        "server_time = int(timestamp) if abs(request.now_us // 10**6 - int(timestamp)) > 10**5"
        " else request.now_us // 10**6",
        (f"{_TEST_MODE}::test_signatures_follow_the_real_time",),
    ),
    Mutant(
        "webhooks of a live tenant are retried by the clock of a test tenant",
        "records/test_tenants.py",
        "WHERE t.tenant_id = :tenant_id LIMIT 1), 0)",
        "WHERE t.clock_offset_us > 0 LIMIT 1), 0)",
        (f"{_TEST_MODE}::test_retries_of_live_webhooks_keep_the_real_time",),
    ),
    Mutant(
        "a test key is made in the live tenant",
        "api_keys/test_mode/tenants.py",
        "caller = msgspec.structs.replace(request.caller, tenant_id=tenant_id)",
        "caller = request.caller",
        (f"{_TEST_MODE}::test_all_test_keys_of_a_tenant_share_their_data_and_live_keys_see_none",),
    ),
    Mutant(
        "the clock of a test tenant may go ahead without end",
        "api_keys/test_mode/api.py",
        "if offset_us > MAX_AHEAD_S * _SECOND_US:",
        "if offset_us < 0:",
        (f"{_TEST_MODE}::test_a_change_of_the_clock_is_refused",),
    ),
    Mutant(
        "a stored response ages by the test clock",
        "web/request.py",
        "stored = await idempotency.find(tx, once, request.real_now_us)",
        "stored = await idempotency.find(tx, once, request.now_us)",
        (f"{_TEST_MODE}::test_a_stored_response_is_found_after_the_clock_went_ahead",),
    ),
    Mutant(
        "an endpoint is due by the test clock",
        "webhooks/store/endpoints.py",
        """    real_us = now_us - await test_tenants.find_offset_us(tx, tenant_id)
    await tx.execute_one(WAKE""",
        """    real_us = now_us
    await tx.execute_one(WAKE""",
        (f"{_TEST_MODE}::test_a_delivery_is_sent_again_when_its_clock_is_ahead",),
    ),
    Mutant(
        "the request log stores the values of queries",
        "telemetry/counters.py",
        'f"{shown}{sign}{_HIDDEN}"',
        "pair",
        (f"{_KEYS}/test_request_log.py::test_neither_bodies_nor_values_of_queries_are_stored",),
    ),
    Mutant(
        "the request log of a busy tenant grows without end",
        "api_keys/request_log/recorder.py",
        "before = oldest if surplus is None else",
        "before = oldest if surplus else",
        (
            f"{_KEYS}/test_request_log.py"
            "::test_retention_deletes_what_is_older_than_7_days_and_the_surplus",
        ),
    ),
    Mutant(
        "a new key may manage webhooks though nobody said so",
        "api_keys/actions.py",
        "permissions = DEFAULT_PERMISSIONS if",
        "permissions = PERMISSIONS if",
        (f"{_KEYS}/test_new_keys.py::test_permissions_left_out_are_those_that_need_not_be_named",),
    ),
    Mutant(
        "a key that reads webhooks may also change them",
        "routes/webhooks.py",
        'guard=_READ if route.method == "GET" else _WRITE',
        "guard=_READ",
        (
            "tests/webhooks/test_by_key.py::test_who_reads_webhooks_cannot_change_them",
            f"{_KEYS}/test_permissions.py::test_exactly_the_keys_with_a_needed_permission_pass",
        ),
    ),
    Mutant(
        "keys are cached for one second",
        "api_keys/store.py",
        '    row = await tx.find_across_tenants(_FIND_HOME, _FIND, {"key_hash": key_hash})\n'
        "    return None if row is None else _key(row)\n",
        "    from time import monotonic\n"
        "    cache = find_by_hash.__dict__\n"
        "    at, key = cache.get(key_hash.hex(), (0.0, None))\n"
        "    if monotonic() - at > 1.0:\n"
        '        row = await tx.find_across_tenants(_FIND_HOME, _FIND, {"key_hash": key_hash})\n'
        "        key = None if row is None else _key(row)\n"
        "        cache[key_hash.hex()] = (monotonic(), key)\n"
        "    return key\n",
        (
            "tests/spec/test_3_states.py::test_3_a_request_with_a_revoked_key_immediately_gets_401",
            f"{_KEYS}/test_immediately.py::test_a_removed_permission_is_missing_in_the_next_request",
            f"{_RESILIENCE}::test_a_revoked_key_is_refused_by_all_nodes",
            f"{_RESILIENCE}::test_a_rotated_secret_is_refused_by_all_nodes",
        ),
    ),
    Mutant(
        "no trigger notices that a key was revoked",
        _STAMP,
        "expires_at, revoked_at, sealed_secret",
        "expires_at, sealed_secret",
        (f"{_STAMP_TEST}::test_a_change_of_each_column_that_the_look_up_reads_replaces_the_stamp",),
    ),
    Mutant(
        "no trigger notices that a key was changed",
        _STAMP,
        '    "key_stamp_key_changed": f"UPDATE OF {_COLUMNS} ON api_keys",\n',
        "",
        (
            f"{_STAMP_TEST}::test_a_change_of_each_column_that_the_look_up_reads_replaces_the_stamp",
            f"{_KNOWN}::test_a_known_key_is_refused_in_the_request_after_a_change",
            f"{_KEYS}/test_immediately.py::test_no_request_that_begins_after_the_revocation_is_accepted",
            f"{_KEYS}/test_immediately.py::test_no_request_that_begins_after_the_rotation_is_accepted",
            "tests/cli/test_keys.py::test_a_key_that_the_server_knows_has_ended_when_a_command_has",
        ),
    ),
    Mutant(
        "no trigger notices that a key was added",
        _STAMP,
        '    "key_stamp_key_added": "INSERT ON api_keys",\n',
        "",
        (f"{_STAMP_TEST}::test_an_added_key_replaces_the_stamp_with_each_of_its_rows",),
    ),
    Mutant(
        "no trigger notices that a key was deleted",
        _STAMP,
        '    "key_stamp_key_deleted": "DELETE ON api_keys",\n',
        "",
        (f"{_STAMP_TEST}::test_a_removed_row_of_a_key_replaces_the_stamp",),
    ),
    Mutant(
        "no trigger notices that the hash of a key was added",
        _STAMP,
        '    "key_stamp_hash_added": "INSERT ON api_key_directory",\n',
        "",
        (f"{_STAMP_TEST}::test_an_added_key_replaces_the_stamp_with_each_of_its_rows",),
    ),
    Mutant(
        "no trigger notices that the hash of a key was changed",
        _STAMP,
        '    "key_stamp_hash_changed": "UPDATE ON api_key_directory",\n',
        "",
        (f"{_STAMP_TEST}::test_a_change_of_each_column_that_the_look_up_reads_replaces_the_stamp",),
    ),
    Mutant(
        "no trigger notices that the hash of a key was deleted",
        _STAMP,
        '    "key_stamp_hash_deleted": "DELETE ON api_key_directory",\n',
        "",
        (
            f"{_STAMP_TEST}::test_a_removed_row_of_a_key_replaces_the_stamp",
            f"{_KNOWN}::test_a_known_key_without_its_hash_is_unknown_until_it_is_back",
        ),
    ),
    Mutant(
        "every use of a key ends what is known of all keys",
        _STAMP,
        "expires_at, revoked_at, sealed_secret",
        "expires_at, revoked_at, last_used_at, sealed_secret",
        (f"{_STAMP_TEST}::test_a_use_of_a_key_leaves_the_stamp",),
    ),
    Mutant(
        "known keys outlive a migration",
        "db/migrate.py",
        '            connection.exec_driver_sql("UPDATE key_stamp SET stamp = random()")\n',
        "",
        (f"{_STAMP_TEST}::test_a_migration_replaces_the_stamp",),
    ),
    Mutant(
        "the stamp of keys is read once",
        "db/sqlite/snapshot.py",
        "            self._key_stamp = None\n",
        "",
        (
            f"{_KNOWN}::test_a_known_key_is_refused_in_the_request_after_a_change",
            f"{_KEYS}/test_immediately.py::test_no_request_that_begins_after_the_revocation_is_accepted",
            "tests/cli/test_keys.py::test_a_key_that_the_server_knows_has_ended_when_a_command_has",
        ),
    ),
    Mutant(
        "known keys outlive a change of their stamp",
        "db/sqlite/snapshot.py",
        "            self._values.clear()\n",
        "",
        (
            "tests/db/test_snapshot.py::test_another_stamp_ends_all_values",
            f"{_KNOWN}::test_a_known_key_is_refused_in_the_request_after_a_change",
            f"{_KNOWN}::test_a_known_key_has_its_new_secret_in_the_next_request",
        ),
    ),
    Mutant(
        "a key that was read before a change is kept after it",
        "db/sqlite/snapshot.py",
        "        if stamp is None or stamp != self._stamp:\n            return\n",
        "",
        ("tests/db/test_snapshot.py::test_a_value_of_rows_before_the_last_change_is_not_kept",),
    ),
    Mutant(
        "a known key does not expire",
        "api_keys/guard/known_keys.py",
        "    elif known.expires_at <= now_us:\n",
        "    elif known.expires_at < 0:\n",
        (f"{_KNOWN}::test_a_known_key_expires_without_any_change",),
    ),
    Mutant(
        "the key is not read again after an upload",
        _GUARD,
        "    if await request.read_body():\n",
        "    if await request.read_body() and False:\n",
        (f"{_KEYS}/test_immediately.py::test_a_key_revoked_during_an_upload_is_refused",),
    ),
    Mutant(
        "the signature covers the decoded path",
        _GUARD,
        "request.method.encode(), request.target, request.body)\n",
        'request.method.encode(), __import__("urllib.parse").parse'
        ".unquote_to_bytes(request.target), request.body)\n",
        (
            f"{_KEYS}/test_guard_vectors.py::test_vector_is_accepted",
            f"{_KEYS}/test_guard_routing.py::test_a_query_is_signed_as_it_was_sent",
        ),
    ),
    Mutant(
        "the allowed skew does not include its end",
        _GUARD,
        "if abs(skew_s) > max_skew_s:",
        "if abs(skew_s) >= max_skew_s:",
        (f"{_KEYS}/test_guard_headers.py::test_the_clocks_may_be_300_s_apart",),
    ),
    Mutant(
        "the response reveals the right signature",
        _GUARD,
        "raise refusals.invalid_signature(parts, refusals.digest_of(parts.body))",
        "wrong = refusals.invalid_signature(parts, refusals.digest_of(parts.body))\n"
        "        inner, outer = known.verifier._inner.copy(), known.verifier._outer.copy()\n"
        "        inner.update(signing.message(parts))\n"
        "        outer.update(inner.digest())\n"
        '        wrong.values["received"]["expected"] = outer.hexdigest()\n'
        "        raise wrong",
        (f"{_KEYS}/test_guard_responses.py::test_the_right_signature_is_never_revealed",),
    ),
    Mutant(
        "all of the permissions are required instead of one",
        _GUARD,
        "            if need in known.permissions:\n",
        "            if all(each in known.permissions for each in self.needs):\n",
        (f"{_KEYS}/test_permissions.py::test_exactly_the_keys_with_a_needed_permission_pass",),
    ),
    Mutant(
        "the secret survives the revocation",
        "api_keys/actions.py",
        "revoked_at=now_us, sealed_secret=None, ",
        "revoked_at=now_us, ",
        (f"{_KEYS}/test_store.py::test_the_ciphertext_is_destroyed_by_revocation",),
    ),
    Mutant(
        "a key of a restored backup works without confirmation",
        "api_keys/rules.py",
        "not is_expired(key, now_us) and key.unconfirmed_since is None",
        "not is_expired(key, now_us)",
        (f"{_KEYS}/test_confirm.py::test_an_unconfirmed_key_is_refused_with_its_own_code",),
    ),
    Mutant(
        "a used signature is stored outside the transaction of the change",
        "api_keys/guard/replay.py",
        "    return use_signature\n",
        "    await request.state.database.write(use_signature)\n    return None\n",
        (f"{_KEYS}/test_replay.py::test_a_write_that_was_refused_has_not_used_its_signature",),
    ),
    Mutant(
        "a key is found without its tenant",
        "api_keys/store.py",
        "FROM api_keys k WHERE k.tenant_id = :tenant_id AND k.id = :id",
        "FROM api_keys k WHERE :tenant_id <> '' AND k.id = :id",
        (
            "tests/test_routes.py::test_an_administrator_of_another_tenant_finds_no_data_of_this_tenant",
        ),
    ),
    Mutant(
        "usage counts that could not be written are lost",
        "api_keys/usage/recorder.py",
        "        state.key_usage.give_back(dict(rows))\n",
        "",
        (f"{_USAGE}::test_counts_that_could_not_be_written_are_written_with_the_next",),
    ),
    Mutant(
        "a retry under the same Idempotency-Key is refused as a replay",
        "api_keys/guard/replay.py",
        "        return is_used and not await _has_stored_response(tx, request, key)\n",
        "        return is_used\n",
        (
            f"{_KEYS}/test_replay.py::"
            "test_a_retry_with_the_same_idempotency_key_gets_the_first_response",
        ),
    ),
    Mutant(
        "the form of a new key has chosen no replay protection",
        "api_keys/pages/form.py",
        '        "replay_protection": "writes",\n',
        '        "replay_protection": "",\n',
        (
            f"{_KEYS}/test_pages.py::"
            "test_a_new_key_is_protected_from_replays_unless_the_box_is_cleared",
        ),
    ),
    Mutant(
        "usage counts are overwritten instead of added",
        "api_keys/store.py",
        "key_usage.count + excluded.count",
        "excluded.count",
        (f"{_USAGE}::test_counts_of_batches_and_processes_are_added",),
    ),
    Mutant(
        "the debugger shows the right signature",
        "api_keys/debugger/comparison.py",
        "    mistake = _find_mistake(pasted, parts, signature, secret)\n",
        "    mistake = _find_mistake(pasted, parts, signature, secret)"
        " or signing.sign(secret, parts)\n",
        (f"{_KEYS}/test_debugger.py::test_an_unknown_mistake_lists_what_to_check",),
    ),
    Mutant(
        "the debugger shows a secret that was pasted as a signature",
        "api_keys/debugger/pages.py",
        "    if comparison.SECRET_AS_SIGNATURE in verdict.mistakes:\n",
        "    if not comparison.SECRET_AS_SIGNATURE:\n",
        (f"{_KEYS}/test_debugger.py::test_a_secret_sent_as_the_signature_is_not_shown_again",),
    ),
    Mutant(
        "the debugger accepts a timestamp that no server accepts",
        "api_keys/debugger/comparison.py",
        "    form_mistakes = [each.mistake for each in parsed if each.mistake]\n",
        "    form_mistakes = [each.mistake for each in parsed[1:] if each.mistake]\n",
        (
            f"{_KEYS}/test_debugger.py::"
            "test_an_invalid_timestamp_is_named_even_if_the_signature_is_correct",
        ),
    ),
    Mutant(
        "a form that is submitted twice creates two keys",
        "api_keys/pages/keys.py",
        "    if seen:\n        tenant_id =",
        "    if not seen:\n        tenant_id =",
        (f"{_KEYS}/test_pages.py::test_a_form_that_is_submitted_twice_creates_one_key",),
    ),
    Mutant(
        "a stale form restores removed permissions",
        "api_keys/actions.py",
        "    _check_unchanged(seen, rules.settings_hash(key))\n",
        "",
        (f"{_KEYS}/test_pages.py::test_a_stale_form_does_not_restore_a_permission",),
    ),
    Mutant(
        "a stale form rotates a secret again",
        "api_keys/actions.py",
        "    _check_unchanged(seen, str(key.secret_version))\n",
        "",
        (f"{_KEYS}/test_pages.py::test_rotating_needs_confirmation_and_shows_the_new_secret_once",),
    ),
    Mutant(
        "a permission that was not used for a day is shown as unused",
        "api_keys/usage/report.py",
        '("permission", MONTH)',
        '("permission", span)',
        (f"{_KEYS}/test_pages.py::test_the_page_of_a_key_shows_its_usage",),
    ),
    Mutant(
        "the debugger does not notice another key",
        "api_keys/debugger/pages.py",
        "    return owner is None or owner.id != key.id\n",
        "    return owner is None\n",
        (f"{_KEYS}/test_debugger.py::test_a_different_key_is_reported_without_its_owner",),
    ),
    Mutant(
        "reauthentication makes a stale form current",
        "api_keys/pages/keys.py",
        'seen=forms.read(request).text("seen") if is_reauthentication else key.secret_version',
        "seen=key.secret_version",
        (f"{_REAUTHENTICATION}::test_a_stale_form_stays_stale_during_reauthentication",),
    ),
    Mutant(
        "the debugger reads the host of a target in quadratic time",
        "api_keys/debugger/parsing.py",
        r"([^/?#\s]*)",
        r"([^/?#\s]*[.:\]]?[^/?#\s]*)(?=[/?#]|$)",
        ("tests/test_regular_expressions.py::test_every_regular_expression_takes_linear_time",),
    ),
    Mutant(
        "a tenant may have one key more than the limit",
        "api_keys/actions.py",
        "    if await store.count_active(tx, tenant_id, now_us, limit) >= limit:\n",
        "    if await store.count_active(tx, tenant_id, now_us, limit + 1) > limit:\n",
        ("tests/api_keys/test_key_count.py::test_the_form_of_a_key_too_many_says_what_to_do",),
    ),
    Mutant(
        "concurrently created keys are not counted",
        "api_keys/actions.py",
        "    await _lock_keys(tx, tenant_id)\n    limit",
        "    limit",
        ("tests/api_keys/test_key_count.py::test_of_110_concurrently_created_keys_100_exist",),
    ),
    Mutant(
        "keys may be created and revoked without end",
        "api_keys/actions.py",
        "    if len(created) >= limit:\n",
        "    if len(created) > limit:\n",
        ("tests/api_keys/test_key_count.py::test_a_tenant_creates_at_most_100_keys_an_hour",),
    ),
)
