"""The faults: a small change of one source file, and the tests that must go red.

Each `old` stands once in its file. The changes are as a tired programmer might make them: the
service still starts and answers.
"""

from typing import NamedTuple

_GUARD = "api_keys/guard/signed.py"
_KEYS = "tests/api_keys"
_USAGE = f"{_KEYS}/test_usage.py"
_ENDING = "tests/cli/test_ending.py"
_DRAINING = "tests/server/test_draining.py"
_PROOFS = "tests/resilience/test_resilience.py"
_FEED = "tests/feed"
_LIMIT_PROOF = (
    "tests/resilience/test_limit.py::test_the_limit_holds_over_three_nodes_while_redis_is_killed"
)
_OUTBOUND = "tests/http_client"
_INBOX = "tests/tickets/test_inbox.py"
_BULK = "tests/tickets/test_inbox_bulk.py"
_TICKET_PAGES = "tests/tickets/test_ticket_pages.py"
_NO_PACKET = "test_not_one_packet_goes_to_a_forbidden_address_whatever_a_name_server_says"
_PEOPLE = "tests/identity/test_people_pages.py"
_ACCOUNT = "tests/identity/test_account_pages.py"
_FRESH = "tests/identity/test_reauthentication.py"
_AUDIT = "tests/audit_log/test_audit_pages.py"
_NEW_PASSWORDS = "tests/identity/test_new_passwords.py"
_CAME_IN = "tests/identity/test_log_in_audit.py"
_BEHIND_THE_ANSWER = "test_a_failure_is_noted_behind_its_answer_and_before_the_process_ends"
_SHARED = "rate_limits/redis_limiter.py"
_LEASES = "tests/webhooks/test_leases.py"
_SCHEDULE = "tests/webhooks/test_schedule.py"
_DELIVERY = "tests/webhooks/test_delivery.py"
_WEBHOOKS = "tests/webhooks"
_ENDPOINTS = f"{_WEBHOOKS}/test_endpoints.py"
_ROTATION = f"{_WEBHOOKS}/test_rotation.py"
_SEARCH = "tests/search/test_search.py"
_CUSTOMER_SEARCH = "tests/search/test_customers.py"
_SQLITE = "tests/db/test_sqlite.py"
_SHARED_TESTS = "tests/rate_limits/test_redis_limiter.py"
_KEPT = "tests/web/test_resubmission.py"
_WEB_PAGES = "tests/web/test_pages.py"
_LOG_IN_PAGES = "tests/identity/test_pages.py"
_HOOK_PAGES = "tests/webhooks/test_pages.py"

_EVERY_PAGE = (
    "tests/browser/test_every_page.py::test_no_page_takes_a_text_for_html_or_hinders_anybody"
)

_LISTEN = "tests/cli/test_webhooks_listen.py"
_LIBRARIES = "tests/webhooks/test_verifying_libraries.py::test_the_libraries_verify"


class Mutant(NamedTuple):
    """One fault. file: below src/sealdesk. tests: node ids, each of which must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a key is remembered for a second",
        "api_keys/store.py",
        '    row = await tx.find_across_tenants(_FIND_HOME, _FIND, {"key_hash": key_hash})\n'
        "    return None if row is None else _key(row)\n",
        "    from time import monotonic\n"
        "    kept = find_by_hash.__dict__\n"
        "    at, key = kept.get(key_hash.hex(), (0.0, None))\n"
        "    if monotonic() - at > 1.0:\n"
        '        row = await tx.find_across_tenants(_FIND_HOME, _FIND, {"key_hash": key_hash})\n'
        "        key = None if row is None else _key(row)\n"
        "        kept[key_hash.hex()] = (monotonic(), key)\n"
        "    return key\n",
        (
            "tests/spec/test_3_states.py::test_3_a_request_with_a_revoked_key_immediately_gets_401",
            f"{_KEYS}/test_immediately.py::test_a_taken_permission_is_missing_in_the_very_next_request",
            f"{_PROOFS}::test_a_revoked_key_is_refused_by_all_nodes",
            f"{_PROOFS}::test_a_rotated_secret_is_refused_by_all_nodes",
        ),
    ),
    Mutant(
        "a view of the database outlives its turn of the loop",
        "db/sqlite/database.py",
        "            asyncio.get_running_loop().call_soon(self._end_view)\n",
        "            asyncio.get_running_loop().call_later(0.3, self._end_view)\n",
        (
            "tests/api_keys/test_immediately.py::"
            "test_no_request_that_begins_after_the_revocation_is_accepted",
        ),
    ),
    Mutant(
        "the key is not read again after an upload",
        _GUARD,
        "    if request.body_waited:\n",
        "    if False:\n",
        (f"{_KEYS}/test_immediately.py::test_a_key_revoked_during_an_upload_is_refused",),
    ),
    Mutant(
        "the signature covers the decoded path",
        _GUARD,
        "request.method.encode(), request.target, request.body)\n    secret",
        'request.method.encode(), __import__("urllib.parse").parse'
        ".unquote_to_bytes(request.target), request.body)\n    secret",
        (
            f"{_KEYS}/test_guard_vectors.py::test_vector_is_accepted",
            f"{_KEYS}/test_guard_routing.py::test_a_query_is_signed_as_it_was_sent",
        ),
    ),
    Mutant(
        "the query is sorted before it is signed",
        "web/request.py",
        'self.query: bytes = scope["query_string"]',
        'self.query: bytes = b"&".join(sorted(scope["query_string"].split(b"&")))',
        (f"{_KEYS}/test_guard_vectors.py::test_vector_is_accepted",),
    ),
    Mutant(
        "the first characters of a signature are enough",
        "crypto/signing.py",
        "    return hmac.compare_digest(sign(secret, parts).encode(), signature)\n",
        "    return sign(secret, parts).encode()[:8] == signature[:8]\n",
        (
            f"{_KEYS}/test_bit_changes.py::test_no_change_of_one_bit_is_accepted",
            "tests/crypto/test_signing.py::test_signature_is_compared_in_constant_time",
        ),
    ),
    Mutant(
        "signatures are compared with ==",
        "crypto/signing.py",
        "    return hmac.compare_digest(sign(secret, parts).encode(), signature)\n",
        "    return sign(secret, parts).encode() == signature\n",
        ("tests/crypto/test_signing.py::test_signature_is_compared_in_constant_time",),
    ),
    Mutant(
        "the body is left out of the message",
        "crypto/signing.py",
        "parts.target + body_sha256(parts.body)\n",
        "parts.target + _EMPTY_SHA256\n",
        ("tests/crypto/test_signing.py::test_signature_of_a_vector",),
    ),
    Mutant(
        "the allowed skew does not include its end",
        "api_keys/guard/headers.py",
        "if abs(request.skew_s) > max_skew_s:",
        "if abs(request.skew_s) >= max_skew_s:",
        (f"{_KEYS}/test_guard_shapes.py::test_the_clocks_may_be_300_s_apart",),
    ),
    Mutant(
        "the answer reveals the right signature",
        _GUARD,
        "raise _wrong_signature(parts)",
        "wrong = _wrong_signature(parts)\n"
        '        wrong.members["expected"] = signing.sign(secret, parts)\n'
        "        raise wrong",
        (f"{_KEYS}/test_guard_answers.py::test_the_right_signature_is_never_revealed",),
    ),
    Mutant(
        "all of the permissions are needed, not any",
        _GUARD,
        "if self.needs and not used:",
        "if not all(need in key.permissions for need in self.needs):",
        (f"{_KEYS}/test_permissions.py::test_exactly_the_keys_with_a_needed_permission_pass",),
    ),
    Mutant(
        "one request more than the limit passes",
        "rate_limits/limiter.py",
        "return debt_s + step_s > PERIOD_S + _SLACK_S",
        "return debt_s > PERIOD_S + _SLACK_S",
        (f"{_KEYS}/test_rate_limit.py::test_the_whole_limit_may_be_used_at_once_and_not_one_more",),
    ),
    Mutant(
        "the secret survives the revocation",
        "api_keys/actions.py",
        "revoked_at=now_us, sealed_secret=None)",
        "revoked_at=now_us)",
        (f"{_KEYS}/test_store.py::test_the_ciphertext_is_destroyed_by_revocation",),
    ),
    Mutant(
        "a used signature is not looked for in the transaction",
        _GUARD,
        "    request.in_transaction.append(use)\n",
        "    await request.state.database.write(use)\n",
        (f"{_KEYS}/test_replay.py::test_a_write_that_was_refused_has_not_used_its_signature",),
    ),
    Mutant(
        "a cursor is not bound to the filters",
        "paging.py",
        "changed = _changed_parameters(contents.query, listing.query)",
        "changed: list[str] = []",
        ("tests/spec/test_4_3_pagination.py::test_4_3_4_a_cursor_is_refused_with_another_query",),
    ),
    Mutant(
        "a cursor is not bound to the tenant",
        "paging.py",
        'return f"{listing.tenant_id} {listing.path}".encode()',
        "return listing.path.encode()",
        ("tests/test_routes.py::test_a_cursor_of_another_tenant_is_refused",),
    ),
    Mutant(
        "a ticket is found without its tenant",
        "tickets/store/tickets.py",
        "WHERE tenant_id = :tenant_id AND id = :id LIMIT 1",
        "WHERE :tenant_id <> '' AND id = :id LIMIT 1",
        ("tests/test_routes.py::test_a_key_of_another_tenant_finds_nothing_of_ours",),
    ),
    Mutant(
        "customers are listed without their tenant",
        "customers/store.py",
        'conditions = ["tenant_id = :tenant_id"]',
        "conditions = [\":tenant_id <> ''\"]",
        ("tests/test_routes.py::test_a_key_of_another_tenant_finds_nothing_of_ours",),
    ),
    Mutant(
        "a key is found without its tenant",
        "api_keys/store.py",
        "FROM api_keys k WHERE k.tenant_id = :tenant_id AND k.id = :id",
        "FROM api_keys k WHERE :tenant_id <> '' AND k.id = :id",
        ("tests/test_routes.py::test_an_administrator_of_another_tenant_finds_nothing_of_ours",),
    ),
    Mutant(
        "a ticket can be assigned to anybody",
        "tickets/store/tickets.py",
        "FROM users WHERE tenant_id = :tenant_id AND id = :id",
        "FROM users WHERE :tenant_id <> '' AND id = :id",
        ("tests/test_routes.py::test_a_ticket_cannot_be_assigned_to_a_foreign_agent",),
    ),
    Mutant(
        "an agent may manage keys",
        "identity/auth/bearer_guard.py",
        "if user.role not in self.needs:",
        "if user.role not in rules.ROLES:",
        ("tests/test_routes.py::test_an_agent_is_no_administrator",),
    ),
    Mutant(
        "every administrator may name another tenant",
        "identity/auth/bearer_guard.py",
        'if user.role != "super_admin":',
        'if user.role == "agent":',
        ("tests/test_routes.py::test_an_administrator_cannot_name_another_tenant",),
    ),
    Mutant(
        "the idempotency record is written outside the transaction",
        "web/idempotent.py",
        "    return await request.write(all_of_it)\n",
        "    if once is None:\n"
        "        return await request.write(all_of_it)\n"
        "    found = await request.read(\n"
        "        lambda tx: idempotency.find(tx, once, request.now_us)\n"
        "    )\n"
        "    if found is not None:\n"
        "        return await request.write(all_of_it)\n"
        "    response = await request.write(work)\n"
        "    kept = [(n.decode(), v.decode()) for n, v in response.headers if n in _KEPT_HEADERS]\n"
        "    record = Stored(response.status, response.body, kept)\n"
        "    await request.write(\n"
        "        lambda tx: idempotency.store(tx, once, record, request.now_us)\n"
        "    )\n"
        "    return response\n",
        (
            "tests/records/test_idempotency.py::test_eight_copies_at_once_have_one_effect_and_one_answer",
            "tests/records/test_idempotency.py::test_an_effect_is_undone_when_its_record_cannot_be_kept",
        ),
    ),
    Mutant(
        "a write is acknowledged before its commit",
        "db/sqlite/group_commit.py",
        '            await self._off_the_loop(self._connection.execute, "COMMIT")\n',
        "            for job in jobs:\n"
        "                job.settle()\n"
        '            await self._off_the_loop(self._connection.execute, "COMMIT")\n',
        (
            "tests/db/test_sqlite.py::"
            "test_write_returns_only_after_its_commit_and_reads_do_not_wait",
        ),
    ),
    Mutant(
        "the disk is not waited for",
        "db/sqlite/connection.py",
        '"PRAGMA synchronous = FULL"',
        '"PRAGMA synchronous = NORMAL"',
        ("tests/db/test_sqlite.py::test_every_connection_is_set_up_for_safety",),
    ),
    Mutant(
        "a write is acknowledged while PostgreSQL commits it",
        "db/postgres/database.py",
        "        return await self._run(work, tenant_id, self._opening, is_write=True)\n",
        "        if tenant_id is None:\n"
        "            return await self._run(work, tenant_id, self._opening, is_write=True)\n"
        "        done = asyncio.get_running_loop().create_future()\n\n"
        "        async def told(tx):\n"
        "            value = await work(tx)\n"
        "            done.done() or done.set_result(value)\n"
        "            return value\n\n"
        "        running = asyncio.ensure_future(\n"
        "            self._run(told, tenant_id, self._opening, is_write=True)\n"
        "        )\n"
        "        await asyncio.wait((running, done), return_when=asyncio.FIRST_COMPLETED)\n"
        "        return done.result() if done.done() else await running\n",
        (f"{_PROOFS}::test_what_one_node_acknowledged_the_others_show",),
    ),
    Mutant(
        "no change waits for the disk, or for the standby",
        "db/postgres/statements.py",
        "    shown: list[str] = []\n",
        "    shown: list[str] = [\"set_config('synchronous_commit', 'off', true)\"]\n",
        (
            f"{_PROOFS}::test_a_crash_of_postgresql_loses_and_doubles_nothing",
            f"{_PROOFS}::test_a_failover_loses_and_doubles_nothing",
        ),
    ),
    Mutant(
        "a connection is not given back after an error",
        "db/postgres/database.py",
        "            self._pool.release(connection)\n",
        '            if __import__("sys").exc_info()[0] is None:\n'
        "                self._pool.release(connection)\n",
        (f"{_PROOFS}::test_a_crowd_at_held_up_connections_is_refused_in_time",),
    ),
    Mutant(
        "each connection of a request is waited for anew",
        "db/postgres/pool.py",
        "            left.for_connections_s -= loop.time() - began_at\n",
        "",
        ("tests/db/test_pool.py::test_a_request_waits_once_for_all_its_connections",),
    ),
    Mutant(
        "each statement of a request is waited for anew",
        "db/postgres/database.py",
        "            left.in_all_s -= time.monotonic() - began_at\n",
        "            pass\n",
        ("tests/db/test_pool.py::test_a_request_waits_once_for_all_its_statements",),
    ),
    Mutant(
        "the tenant is set for the session",
        "db/postgres/statements.py",
        """_SET_TENANT = f"set_config('{TENANT}', %s, true)\"""",
        """_SET_TENANT = f"set_config('{TENANT}', %s, false)\"""",
        ("tests/db/test_isolation.py::test_a_used_connection_remembers_no_tenant",),
    ),
    Mutant(
        "a policy shows every row",
        "db/postgres/roles.py",
        "USING ({_OF_TENANT})",
        "USING (true)",
        (
            "tests/db/test_roles.py::test_the_policies_are_these_and_no_more",
            "tests/db/test_isolation.py::test_a_reading_without_its_filter_shows_no_foreign_row",
        ),
    ),
    Mutant(
        "a node that is told to stop ends at once",
        "server/serve.py",
        "        server.handle_exit(number, frame)\n",
        '        __import__("os")._exit(0)\n',
        (
            "tests/resilience/test_rolling.py::test_nobody_behind_a_load_balancer_notices_a_restart",
            f"{_ENDING}::test_nobody_who_is_on_the_way_in_is_lost",
        ),
    ),
    Mutant(
        "a node that ends says that it is ready",
        "web/status.py",
        "    if request.state.lifetime.is_ending:\n",
        "    if False:\n",
        (
            f"{_ENDING}::test_readiness_turns_false_while_the_port_still_takes_requests",
            f"{_ENDING}::test_readiness_turns_false_before_the_port_closes_without_any_notice",
        ),
    ),
    Mutant(
        "answers of a node that ends do not let go of the connection",
        "web/application.py",
        "    if request.state.lifetime.is_ending and not closes:\n",
        "    if False:\n",
        (f"{_ENDING}::test_readiness_turns_false_while_the_port_still_takes_requests",),
    ),
    Mutant(
        "uvicorn closes what it has not read",
        "server/serve.py",
        "        connections = cast(",
        "        return await super().shutdown(sockets)\n        connections = cast(",
        (
            f"{_DRAINING}::test_request_that_comes_in_with_the_signal_is_answered",
            f"{_DRAINING}::test_half_a_request_is_waited_for",
            f"{_DRAINING}::test_what_does_not_end_is_cut_and_counted",
        ),
    ),
    Mutant(
        "a connection is closed without a look at what came in",
        "server/draining.py",
        "        del by_descriptor[descriptor]\n",
        "        pass\n",
        (f"{_DRAINING}::test_request_that_comes_in_as_the_connection_falls_quiet_is_answered",),
    ),
    Mutant(
        "a worker that is told to stop shuts the door for all",
        "server/serve.py",
        "                if self._ending.is_alone:\n",
        "                if True:\n",
        (
            "tests/server/test_supervisor.py::"
            "test_one_worker_that_is_told_to_stop_leaves_the_port_to_the_others",
        ),
    ),
    Mutant(
        "workers outlive their parent",
        "server/supervisor.py",
        "                _end_with(parent)\n",
        "                pass\n",
        (
            "tests/server/test_supervisor.py::"
            "test_workers_end_with_a_parent_that_was_killed_and_answer_first",
        ),
    ),
    Mutant(
        "each process counts in a place of its own in Redis",
        "rate_limits/redis_connection.py",
        '_KEY = "sealdesk:rate:%s"\n',
        "_KEY = f\"sealdesk:rate:{__import__('os').getpid()}:%s\"\n",
        (_LIMIT_PROOF,),
    ),
    Mutant(
        "what Redis told of a debt is not remembered",
        _SHARED,
        "            self._own.raise_debt(key_id, now + response.debt_s)\n",
        "",
        (
            _LIMIT_PROOF,
            f"{_SHARED_TESTS}::test_a_killed_redis_leaves_each_process_its_part_of_what_is_left",
        ),
    ),
    Mutant(
        "Redis is asked without what is known of the debt",
        _SHARED,
        "len(answers), _floor_s(self._own.debt_s(key_id)))",
        "len(answers), 0.0)",
        (f"{_SHARED_TESTS}::test_a_redis_that_lost_everything_unnoticed_grants_nothing_twice",),
    ),
    Mutant(
        "debts are not told to a Redis that came back",
        _SHARED,
        "            await self._tell_debts(link)\n",
        "",
        (f"{_SHARED_TESTS}::test_what_one_process_knows_is_told_to_a_redis_that_came_back_empty",),
    ),
    Mutant(
        "without Redis each process allows the whole limit",
        _SHARED,
        '        if self.mode == "local":\n'
        "            return self._own.take_now(key_id, limit, self._processes)\n",
        '        if self.mode == "local":\n            return self._own.take_now(key_id, limit)\n',
        (
            _LIMIT_PROOF,
            f"{_KEYS}/test_rate_limit.py::test_without_its_redis_each_process_allows_its_part",
        ),
    ),
    Mutant(
        "requests wait for Redis however long it takes",
        _SHARED,
        "        async with asyncio.timeout_at(until):\n",
        "        async with asyncio.timeout_at(until + 60):\n",
        (f"{_SHARED_TESTS}::test_a_redis_that_hangs_is_not_waited_for",),
    ),
    Mutant(
        "the time on the way is added to a debt again and again",
        _SHARED,
        "    return max(0.0, debt_s - WAIT_S)\n",
        "    return debt_s\n",
        (f"{_SHARED_TESTS}::test_the_budget_comes_back_as_fast_as_it_is_promised",),
    ),
    Mutant(
        "endpoints that are made at once do not count each other",
        "webhooks/actions.py",
        '    await tx.lock(f"webhooks {caller.tenant_id}")\n',
        "",
        (f"{_WEBHOOKS}/test_limits.py::test_of_60_endpoints_made_at_once_50_are_there",),
    ),
    Mutant(
        "the URL of an endpoint is not tried when it is changed",
        "webhooks/endpoint_service.py",
        "change.url != endpoint.url:",
        "not endpoint.url:",
        (
            f"{_ENDPOINTS}::test_a_url_that_cannot_be_sent_to_is_refused_with_its_cause",
            f"{_ENDPOINTS}::test_a_url_is_reached_before_it_is_taken_and_nothing_is_sent",
        ),
    ),
    Mutant(
        "the old webhook secret ends with its rotation",
        "webhooks/actions.py",
        "        sealed_old_secret=endpoint.sealed_secret,\n",
        "        sealed_old_secret=None,\n",
        (
            f"{_ROTATION}::test_both_secrets_sign_for_a_day_and_then_the_new_one_alone",
            f"{_ROTATION}::test_a_second_rotation_within_the_day_ends_the_first_secret",
        ),
    ),
    Mutant(
        "a new master key leaves the old webhook secret behind",
        "webhooks/actions.py",
        "_resealed(endpoint, old, version - 1, ring)",
        "old",
        (f"{_ROTATION}::test_a_new_master_key_takes_over_both_secrets",),
    ),
    Mutant(
        "the secrets survive the deletion of their endpoint",
        "webhooks/store/endpoints.py",
        "is_active = FALSE, sealed_secret = NULL,\n    sealed_old_secret = NULL,",
        "is_active = FALSE,",
        (f"{_ENDPOINTS}::test_a_deleted_endpoints_secrets_are_destroyed",),
    ),
    Mutant(
        "the audit shows the query of a URL",
        "webhooks/rules.py",
        '    return urlsplit(url)._replace(query="", fragment="").geturl()\n',
        "    return url\n",
        (f"{_ENDPOINTS}::test_every_deed_is_audited_with_who_and_where_and_no_secret",),
    ),
    Mutant(
        "a change of an endpoint undoes what the loop found",
        "webhooks/store/endpoints.py",
        "UPDATE endpoints SET url = :url,",
        "UPDATE endpoints SET is_active = :is_active, url = :url,",
        (f"{_ENDPOINTS}::test_what_people_say_and_what_the_loop_finds_do_not_undo_each_other",),
    ),
    Mutant(
        "a delivery is found under any endpoint",
        "webhooks/store/endpoints.py",
        "d.id = :id AND d.endpoint_id = :endpoint_id LIMIT 1",
        "d.id = :id LIMIT 1",
        (f"{_WEBHOOKS}/test_log.py::test_a_delivery_is_found_under_its_own_endpoint_only",),
    ),
    Mutant(
        "a redelivery goes on with the schedule that has ended",
        "webhooks/store/endpoints.py",
        "due_at = :now, retry_count = 0\n",
        "due_at = :now\n",
        (
            f"{_WEBHOOKS}/test_redelivery.py::"
            "test_a_redelivery_that_fails_has_its_whole_schedule_again",
        ),
    ),
    Mutant(
        "a redelivery wakes nobody",
        "webhooks/actions.py",
        "    await endpoint_store.wake(tx, caller.tenant_id, endpoint_id, now_us)\n",
        "",
        (
            f"{_WEBHOOKS}/test_redelivery.py::"
            "test_a_redelivery_arrives_under_the_same_id_until_it_is_taken",
        ),
    ),
    Mutant(
        "two changes of an endpoint at once undo each other",
        "webhooks/actions.py",
        '    await tx.lock(f"webhook {endpoint_id}")\n',
        "    await tx.try_lock(endpoint_id)\n",
        (f"{_ENDPOINTS}::test_two_changes_at_once_do_not_undo_each_other",),
    ),
    Mutant(
        "doctor takes a path that leads nowhere for one that arrived",
        "cli/doctor/diagnosis.py",
        '    if code == "not_found":\n        return _elsewhere(',
        '    if code == "not_found":\n        return None\n    if code == "nowhere":\n'
        "        return _elsewhere(",
        ("tests/cli/test_public_url.py::test_what_a_proxy_decodes_is_named",),
    ),
    Mutant(
        "doctor compares what is meant, and not the bytes",
        "cli/doctor/diagnosis.py",
        "    if target != arrived:\n",
        '    unquote = __import__("urllib.parse").parse.unquote\n'
        "    if unquote(target) != unquote(arrived):\n",
        ("tests/cli/test_public_url.py::test_nginx_with_a_path_of_its_own_is_found_out",),
    ),
    Mutant(
        "a name is checked, and then connected to by name",
        "http_client/connector.py",
        "        str(address),\n",
        "        destination.name,\n",
        (f"{_OUTBOUND}/test_rebinding.py::{_NO_PACKET}",),
    ),
    Mutant(
        "one public address of a name is enough",
        "http_client/resolver.py",
        "        if not all(is_permitted(",
        "        if not any(is_permitted(",
        (
            f"{_OUTBOUND}/test_resolver.py::test_a_name_is_asked_for_again_and_judged_anew",
            f"{_OUTBOUND}/test_rebinding.py::{_NO_PACKET}",
        ),
    ),
    Mutant(
        "an address is public when Python says so",
        "http_client/addresses.py",
        "    if not any(address in network for network in _DENIED):\n",
        "    if address.is_global:\n",
        (
            f"{_OUTBOUND}/test_urls.py::test_every_url_of_the_corpus_is_judged_as_it_should_be",
            f"{_OUTBOUND}/test_rebinding.py::{_NO_PACKET}",
        ),
    ),
    Mutant(
        "a setting opens metadata services",
        "http_client/addresses.py",
        "    if any(address in network for network in _NEVER):\n",
        "    if any(address in network for network in _NEVER if not allowed):\n",
        (f"{_OUTBOUND}/test_urls.py::test_no_setting_opens_a_metadata_service",),
    ),
    Mutant(
        "bodies of answers are read to their end",
        "http_client/connection.py",
        "        self._room = MAX_BODY_BYTES\n",
        "        self._room = 2**28\n",
        (
            f"{_OUTBOUND}/test_hostile.py::"
            "test_hostile_receivers_take_no_memory_and_nobody_elses_time",
            f"{_OUTBOUND}/test_hostile.py::test_a_hostile_answer_is_bounded",
        ),
    ),
    Mutant(
        "heads of answers have no end",
        "http_client/connection.py",
        "        self._room = MAX_HEAD_BYTES\n",
        "        self._room = 2**40\n",
        (f"{_OUTBOUND}/test_hostile.py::test_a_hostile_answer_is_bounded",),
    ),
    Mutant(
        "certificates may be for another name",
        "http_client/connector.py",
        "    context = ssl.create_default_context()\n",
        "    context = ssl.create_default_context()\n    context.check_hostname = False\n",
        (f"{_OUTBOUND}/test_requests.py::test_a_certificate_that_does_not_hold_gets_nothing",),
    ),
    Mutant(
        "an answer is waited for however long it takes",
        "http_client/client.py",
        "            async with asyncio.timeout_at(until):\n",
        "            async with asyncio.timeout_at(until + 600):\n",
        (f"{_OUTBOUND}/test_requests.py::test_an_answer_that_does_not_come_is_not_waited_for",),
    ),
    Mutant(
        "what was answered in part is sent again",
        "http_client/client.py",
        '                if unsent.cause != "bad_answer" or kept[1].has_heard:\n',
        '                if unsent.cause != "bad_answer":\n',
        (f"{_OUTBOUND}/test_requests.py::test_what_was_answered_in_part_is_not_sent_again",),
    ),
    Mutant(
        "headers are sent as they were given",
        "http_client/client.py",
        "        if not is_sound or name.lower() in _OURS:\n",
        "        if not is_sound and name.lower() in _OURS:\n",
        (f"{_OUTBOUND}/test_requests.py::test_a_header_cannot_bring_another",),
    ),
    Mutant(
        "names that hang take the threads of all",
        "http_client/resolver.py",
        "self._slow_turn if host in self._slow else self._turn:",
        "self._turn:",
        (f"{_OUTBOUND}/test_resolver.py::test_names_that_were_slow_leave_room_for_the_others",),
    ),
    Mutant(
        "the secret before the last signs no more",
        "webhooks/delivery/signed_post.py",
        "now_us < (endpoint.old_secret_until or 0)",
        "now_us < 0",
        (f"{_LIBRARIES}_with_both_secrets_for_a_day_after_a_rotation",),
    ),
    Mutant(
        "the secret before the last signs for ever",
        "webhooks/delivery/signed_post.py",
        "now_us < (endpoint.old_secret_until or 0)",
        "now_us",
        (f"{_LIBRARIES}_with_both_secrets_for_a_day_after_a_rotation",),
    ),
    Mutant(
        "a comma stands between two signatures",
        "webhooks/delivery/signed_post.py",
        '" ".join(signatures)',
        '",".join(signatures)',
        (f"{_LIBRARIES}_with_both_secrets_for_a_day_after_a_rotation",),
    ),
    Mutant(
        "the time is not signed",
        "crypto/webhook_signing.py",
        'f"{webhook_id}.{timestamp}.".encode()',
        'f"{webhook_id}.".encode()',
        (
            f"{_LIBRARIES}_a_thousand_deliveries",
            f"{_LISTEN}::test_new_events_arrive_byte_for_byte_with_valid_signatures",
            "tests/crypto/test_webhook_signing.py::test_the_official_library_is_of_the_same_opinion",
        ),
    ),
    Mutant(
        "the age of a webhook is not looked at",
        "crypto/webhook_signing.py",
        "    if age_s > TOLERANCE_S:\n",
        "    if age_s > TOLERANCE_S * 100:\n",
        ("tests/crypto/test_webhook_signing.py::test_the_mistake_is_named",),
    ),
    Mutant(
        "events are written anew for the developer's program",
        "cli/webhooks/feed.py",
        "yield [bytes(event) for event in page.data]",
        "yield [json_text.dumps(json_text.loads(event)).encode() for event in page.data]",
        (f"{_LISTEN}::test_new_events_arrive_byte_for_byte_with_valid_signatures",),
    ),
    Mutant(
        "listening goes on at the end after an absence",
        "cli/webhooks/feed.py",
        'page = self._page({"cursor": self.cursor}, wait_s',
        'page = self._page({"start": "latest"} if failures else {"cursor": self.cursor}, wait_s',
        (f"{_LISTEN}::test_while_the_service_is_away_nothing_is_missed",),
    ),
    Mutant(
        "an event's position is of the time at which it was recorded",
        "event_log/events.py",
        '    first = drawn["last_position"] - len(event_ids) + 1\n',
        '    last = drawn["last_position"] - len(event_ids)\n'
        "    first = ids.instant_of(event_ids[0]) * 100\n"
        "    if first > last:\n"
        '        params = {"tenant_id": tenant_id, "count": first - last - 1}\n'
        "        await tx.fetch_one(_DRAW_POSITIONS, params)\n",
        (
            f"{_FEED}/test_order.py::test_a_late_commit_is_not_skipped",
            f"{_FEED}/test_order.py::test_what_is_older_than_what_was_read_comes_behind_it",
            f"{_FEED}/test_order.py::test_concurrent_writers_are_read_whole_and_in_order",
        ),
    ),
    Mutant(
        "several sequencers give positions at once",
        "worker/sequencer.py",
        '    if not await tx.try_lock("sequencer"):\n',
        "    if False:\n",
        (f"{_FEED}/test_order.py::test_concurrent_writers_are_read_whole_and_in_order",),
    ),
    Mutant(
        "the feed does not learn what was deleted of it",
        "event_log/events.py",
        "    await tx.enqueue(_PRUNE_NOTED, params)\n",
        "",
        (
            f"{_FEED}/test_keeping.py::test_who_missed_what_was_deleted_is_told",
            f"{_FEED}/test_keeping.py::test_each_step_of_deleting_is_noted",
        ),
    ),
    Mutant(
        "events are deleted by their age alone",
        "event_log/events.py",
        '        old = list(takewhile(lambda row: row["id"] < before, rows))\n',
        '        old = [row for row in rows if row["id"] < before]\n',
        (f"{_FEED}/test_keeping.py::test_what_is_left_of_the_feed_has_no_gaps",),
    ),
    Mutant(
        "the feed shows every type to every key",
        "feed/rules.py",
        "        return [kind for kind, needs in NEEDS.items() if not may.isdisjoint(needs)]\n",
        "        return list(NEEDS)\n",
        (f"{_FEED}/test_feed.py::test_each_type_is_shown_only_with_its_permission",),
    ),
    Mutant(
        "a call that waits is not proven again",
        "feed/api.py",
        "            await request.proof(request)\n",
        "",
        (
            f"{_FEED}/test_waiting.py::test_a_revoked_key_waits_no_longer",
            f"{_FEED}/test_waiting.py::test_a_revoked_key_is_not_told_what_happens",
            f"{_FEED}/test_waiting.py::test_an_old_secret_waits_no_longer",
            f"{_FEED}/test_waiting.py::test_an_expired_key_waits_no_longer",
        ),
    ),
    Mutant(
        "a service that ends lets them wait",
        "feed/api.py",
        " and not state.lifetime.is_ending",
        "",
        (f"{_FEED}/test_waiting.py::test_a_service_that_ends_answers_who_waits",),
    ),
    Mutant(
        "who has gone is served on",
        "feed/api.py",
        "    gone = asyncio.ensure_future(request.until_gone())\n",
        "    gone = clock.create_future()\n",
        (f"{_FEED}/test_waiting.py::test_a_client_that_goes_away_is_served_no_longer",),
    ),
    Mutant(
        "a change of a ticket is kept nowhere",
        "tickets/actions.py",
        "    await history.add(tx, change.after, caller.actor, changes, now_us)\n",
        "",
        (
            "tests/tickets/test_history.py::test_a_change_is_kept_with_who_did_it",
            "tests/tickets/test_history.py::test_a_customer_who_reopens_a_ticket_is_seen",
        ),
    ),
    Mutant(
        "an answer is sent over what is new",
        "tickets/actions.py",
        '    if seen != (replies[0].id if replies else ""):\n',
        "    if False:\n",
        (
            f"{_TICKET_PAGES}::test_an_answer_waits_until_what_is_new_was_read",
            f"{_TICKET_PAGES}::test_an_answer_that_is_sent_twice_is_stored_once",
        ),
    ),
    Mutant(
        "an answer overtakes one that was sent while it was looked whether there is one",
        "tickets/actions.py",
        "    written = await _reply(tx, caller, found, new, now_us)\n",
        "    written = await reply(tx, caller, ticket_id, new, now_us=now_us)\n",
        (f"{_TICKET_PAGES}::test_an_answer_that_is_overtaken_waits_like_any_other",),
    ),
    Mutant(
        "what others changed meanwhile is overwritten",
        "tickets/pages/ticket.py",
        "if_match=(etag,)",
        "if_match=None",
        (f"{_TICKET_PAGES}::test_who_saves_what_others_changed_sees_what_they_changed",),
    ),
    Mutant(
        "what a colleague changed is undone by saving again",
        "tickets/pages/ticket.py",
        "typed[name] if typed[name] != was[name] else now[name]",
        "typed[name]",
        (f"{_TICKET_PAGES}::test_who_saves_what_others_changed_sees_what_they_changed",),
    ),
    Mutant(
        "what is new in a ticket is not told",
        "tickets/pages/ticket.py",
        'etag != forms.asked(request).text("etag")',
        "False",
        (f"{_TICKET_PAGES}::test_what_is_new_is_told_to_who_has_the_ticket_open",),
    ),
    Mutant(
        "who looks for customers is taken at their word for a pattern",
        "customers/store.py",
        '_SIGN.sub(r"\\\\\\g<0>", spelling)',
        "spelling",
        ("tests/customers/test_pages.py::test_parts_of_words_find_customers",),
    ),
    Mutant(
        "styles are asked for again with every page",
        "web/assets.py",
        "_KEPT if request.query == version.encode() else ",
        "",
        (f"{_WEB_PAGES}::test_assets_are_kept_until_they_change",),
    ),
    Mutant(
        "what could not be stored is lost",
        "web/pages/render.py",
        'typed = resubmission.of(request, _asked(request)) if request.method == "POST" else None',
        "typed = None",
        (f"{_WEB_PAGES}::test_a_page_without_storage_says_so_and_tries_again",),
    ),
    Mutant(
        "a customer is overwritten by an old form",
        "customers/pages.py",
        "if_match=(etag,)",
        "if_match=None",
        (
            "tests/customers/test_pages.py"
            "::test_who_saves_what_others_changed_sees_what_they_changed",
        ),
    ),
    Mutant(
        "text is taken for HTML",
        "tickets/pages/links.py",
        "        yield escape(text[after : found.start()])\n",
        "        yield text[after : found.start()]\n",
        ("tests/tickets/test_links.py::test_hostile_text_stays_text",),
    ),
    Mutant(
        "who is answering is never forgotten",
        "tickets/store/history.py",
        '"kept_since": now_us - ANSWERING_US',
        '"kept_since": 0',
        (f"{_TICKET_PAGES}::test_who_has_not_been_heard_of_is_answering_no_more",),
    ),
    Mutant(
        "chosen tickets are changed whatever happened meanwhile",
        "tickets/pages/bulk.py",
        "if_match=(line.etag,)",
        "if_match=None",
        (f"{_BULK}::test_what_changed_meanwhile_is_left_and_said",),
    ),
    Mutant(
        "of chosen tickets one hinders the others",
        "tickets/pages/bulk.py",
        "        return line._replace(why=_why(refusal))\n",
        "        raise refusal\n",
        (f"{_BULK}::test_one_that_cannot_be_stored_does_not_hinder_the_others",),
    ),
    Mutant(
        "tickets are counted to the last",
        "tickets/store/lists.py",
        " LIMIT {COUNTED + 1}) x)",
        ") x)",
        ("tests/tickets/test_plans.py::test_counting_statuses_reads_no_more_than_its_index",),
    ),
    Mutant(
        "whoever works on it leads where all are many",
        "tickets/store/lists.py",
        "_lead_of_many(wanted, list(counted))",
        "None",
        ("tests/tickets/test_plans.py::test_of_many_and_many_what_is_not_done_leads",),
    ),
    Mutant(
        "a text made of addresses becomes as many links",
        "tickets/pages/links.py",
        "islice(_ADDRESS.finditer(text), _LINKS)",
        "islice(_ADDRESS.finditer(text), None)",
        (
            "tests/tickets/test_links.py"
            "::test_of_a_text_made_of_addresses_the_first_are_links_and_all_is_shown",
        ),
    ),
    Mutant(
        "newer leads to the first page",
        "tickets/pages/inbox.py",
        "trail=asked.trail[:-1]",
        "trail=()",
        (f"{_INBOX}::test_older_and_newer_lead_through_all_tickets_and_back",),
    ),
    Mutant(
        "what is new is told of all tickets",
        "tickets/pages/inbox.py",
        "        if not one.is_served():\n",
        "        one = Filter(newest_first=False)\n        if not one.is_served():\n",
        (f"{_INBOX}::test_new_tickets_are_those_of_the_view",),
    ),
    Mutant(
        "a long page keeps everybody waiting",
        "web/pages/environment.py",
        "            await asyncio.sleep(0)\n",
        "            pass\n",
        ("tests/web/test_render.py::test_a_long_page_lets_others_have_their_turn",),
    ),
    Mutant(
        "every page may ask for more",
        "web/pages/render.py",
        """("; connect-src 'self'" if may_fetch else "")""",
        """"; connect-src 'self'\"""",
        ("tests/web/test_pages.py::test_every_page_forbids_what_it_does_not_need",),
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
        "began_us // 1_000_000 + SESSION_LIFE_S)",
        "now_us // 1_000_000 + SESSION_LIFE_S)",
        (f"{_ACCOUNT}::test_a_session_lasts_while_somebody_works_and_no_longer",),
    ),
    Mutant(
        "a log-out is forgotten before a renewed token ends",
        "identity/auth/login.py",
        "    latest_us = rules.latest_us(token.issued_at)\n",
        "    latest_us = token.expires_at\n",
        (f"{_ACCOUNT}::test_a_log_out_is_remembered_as_long_as_a_copy_could_be_renewed",),
    ),
    Mutant(
        "a renewed token is a log-in of its own",
        "identity/auth/login.py",
        "        user, secret, token_id=token.id, began_us",
        "        user, secret, token_id=ids.mint(request.now_us), began_us",
        (
            f"{_ACCOUNT}::test_a_page_of_before_can_still_send_its_form",
            f"{_ACCOUNT}::test_logging_out_ends_the_tokens_of_before_and_those_that_renewed_them",
        ),
    ),
    Mutant(
        "a spreadsheet takes a name for a formula",
        "audit_log/csv_file.py",
        """    safe = _FORMULA.sub(r"\\1'", cell)\n""",
        "    safe = cell\n",
        (f"{_AUDIT}::test_the_file_is_safe_for_spreadsheets",),
    ),
    Mutant(
        "a spreadsheet finds a formula behind a semicolon",
        "audit_log/csv_file.py",
        "(?:^|[;|",
        "(?:^|[|",
        (f"{_AUDIT}::test_the_file_is_safe_for_spreadsheets",),
    ),
    Mutant(
        "the audit does not say who got a link",
        "identity/actions.py",
        '    deed = AuditEntry(what, actor, address, user.id, {"email": user.email})\n',
        "    deed = AuditEntry(what, actor, address, user.id)\n",
        (f"{_PEOPLE}::test_an_invited_agent_sets_a_password_and_works",),
    ),
    Mutant(
        "a common password is taken",
        "identity/auth/passwords.py",
        '("common_password", _TOO_COMMON) if _is_common(password) else None',
        "None",
        (f"{_NEW_PASSWORDS}::test_a_common_password_is_refused_and_the_old_one_stays",),
    ),
    Mutant(
        "a failed log-in of a user takes as long as noting it",
        "identity/auth/login.py",
        "request.state.background_tasks.do(_note(request.state, user.tenant_id, deed, now_us))",
        "await _note(request.state, user.tenant_id, deed, now_us)",
        (f"{_CAME_IN}::{_BEHIND_THE_ANSWER}",),
    ),
    Mutant(
        "what no answer waits for is lost when the process ends",
        "server/app.py",
        "    await state.background_tasks.finish()\n",
        "",
        (f"{_CAME_IN}::{_BEHIND_THE_ANSWER}",),
    ),
    Mutant(
        "the password once more stands in the audit as a log-in",
        "identity/auth/login.py",
        "how=how if is_log_in else None",
        "how=how",
        (f"{_CAME_IN}::test_a_password_asked_for_again_is_no_log_in",),
    ),
    Mutant(
        "a translation that a tool guessed is shown",
        "web/pages/po_file.py",
        "    if _GUESSED in fields:\n",
        "    if False:\n",
        ("tests/web/test_i18n.py::test_a_catalogue_is_read_as_it_is_written",),
    ),
    Mutant(
        "who is above is renamed from below",
        "identity/people_actions.py",
        "    user = await _held(tx, caller, user_id)\n    if user.name == name:\n",
        "    user = await get_person(tx, caller, user_id)\n    if user.name == name:\n",
        (f"{_PEOPLE}::test_who_is_above_is_not_changed_from_below",),
    ),
    Mutant(
        "an export leaves out what was done in the instant where it ended",
        "audit_log/pages.py",
        'at_us if name == "since" else at_us + 1',
        "at_us",
        (f"{_AUDIT}::test_a_file_says_that_there_is_more",),
    ),
    Mutant(
        "a browser's weights of languages are passed over",
        "web/pages/i18n.py",
        "sorted(wishes, key=lambda wish: -wish[1])",
        "wishes",
        ("tests/web/test_i18n.py::test_a_browser_is_answered_in_what_it_prefers",),
    ),
    Mutant(
        "counts of how keys are used that could not be written are forgotten",
        "api_keys/usage/recorder.py",
        "        state.usage.give_back(dict(rows))\n",
        "",
        (f"{_USAGE}::test_what_cannot_be_written_is_written_with_the_next",),
    ),
    Mutant(
        "who writes last says how often a key was used",
        "api_keys/store.py",
        "key_usage.count + excluded.count",
        "excluded.count",
        (f"{_USAGE}::test_batches_and_processes_add_up",),
    ),
    Mutant(
        "a key has as many addresses as its clients like",
        "telemetry/key_usage.py",
        "if address not in kept and len(kept) >= ADDRESSES_KEPT:",
        "if not address:",
        (f"{_USAGE}::test_addresses_are_bounded_within_an_hour_and_over_batches",),
    ),
    Mutant(
        "whoever cannot sign is counted as a user of the key",
        "telemetry/key_usage.py",
        "if status != _UNPROVEN:",
        "if status:",
        (f"{_USAGE}::test_of_a_wrong_signature_only_that_it_was_refused_is_counted",),
    ),
    Mutant(
        "what was counted last ends with the process",
        "server/app.py",
        "    await usage.write_last(state)\n",
        "",
        (f"{_USAGE}::test_the_end_of_the_process_writes_the_rest",),
    ),
    Mutant(
        "how keys were used is kept for ever",
        "worker/retention.py",
        "        + await api_keys.prune_usage(tx, now_us - _USAGE_US, _STEP_ROWS)\n",
        "",
        (f"{_USAGE}::test_it_goes_after_thirty_days",),
    ),
    Mutant(
        "the name of a host is put into a command for the shell",
        "web/pages/render.py",
        "host if _HOST.fullmatch(host) else 'desk.example.com'",
        "host",
        (f"{_KEYS}/test_pages.py::test_no_host_gets_into_the_curl_that_a_shell_would_read",),
    ),
    Mutant(
        "the debugger shows the right signature",
        "api_keys/debugger/comparison.py",
        "    mistake = _mistake(pasted, parts, signature, secret)\n",
        "    mistake = _mistake(pasted, parts, signature, secret) or signing.sign(secret, parts)\n",
        (f"{_KEYS}/test_debugger.py::test_an_unknown_mistake_leads_to_where_to_look",),
    ),
    Mutant(
        "the debugger shows a secret that was pasted as a signature",
        "api_keys/debugger/pages.py",
        "    if comparison.SECRET_SENT in verdict.mistakes:\n",
        "    if not comparison.SECRET_SENT:\n",
        (f"{_KEYS}/test_debugger.py::test_a_secret_that_was_sent_is_not_shown_again",),
    ),
    Mutant(
        "the debugger calls a timestamp right that no server takes",
        "api_keys/debugger/comparison.py",
        "    shapes = [each.mistake for each in written if each.mistake]\n",
        "    shapes = [each.mistake for each in written[1:] if each.mistake]\n",
        (
            f"{_KEYS}/test_debugger.py::"
            "test_a_timestamp_that_cannot_be_sent_is_named_though_the_right_one_was_signed",
        ),
    ),
    Mutant(
        "a form that is sent twice makes two keys",
        "api_keys/pages/keys.py",
        "new.name, seen) if seen else None\n",
        "new.name, seen) if not seen else None\n",
        (f"{_KEYS}/test_pages.py::test_a_form_that_is_sent_twice_makes_one_key",),
    ),
    Mutant(
        "a stale form gives a key its permissions back",
        "api_keys/actions.py",
        "    _check_seen(seen, rules.state_of(key))\n",
        "",
        (f"{_KEYS}/test_pages.py::test_a_stale_form_gives_back_no_permission",),
    ),
    Mutant(
        "who rotates second ends the secret of who rotated first",
        "api_keys/actions.py",
        "    _check_seen(seen, str(key.secret_version))\n",
        "",
        (f"{_KEYS}/test_pages.py::test_rotating_asks_first_and_shows_the_new_secret_once",),
    ),
    Mutant(
        "a permission that rests for a day is told as not needed",
        "api_keys/usage/report.py",
        '("permission", MONTH)',
        '("permission", span)',
        (f"{_KEYS}/test_pages.py::test_the_page_of_a_key_shows_how_it_is_used",),
    ),
    Mutant(
        "a key that was mixed up goes unnoticed",
        "api_keys/debugger/pages.py",
        "    return found is None or found.id != key.id\n",
        "    return found is None\n",
        (f"{_KEYS}/test_debugger.py::test_a_key_that_was_mixed_up_is_told_and_not_whose_it_is",),
    ),
    Mutant(
        "a word that was taken out of a ticket still finds it",
        "search/store/queue.py",
        '        await tx.enqueue(kind.take_out, {**new, "words": kept["words"]})\n',
        "",
        (f"{_SEARCH}::test_a_step_ends_when_enough_is_written_and_the_next_goes_on",),
    ),
    Mutant(
        "work of the background runs on the loop, and reads wait for it",
        "db/sqlite/group_commit.py",
        "            await self._off_the_loop(self._run_and_commit, job)\n",
        "            self._run_and_commit(job)\n",
        (f"{_SQLITE}::test_reads_do_not_wait_for_work_aside_and_writes_wait_for_its_end",),
    ),
    Mutant(
        "a step of the search's index goes on however much it has written",
        "search/store/queue.py",
        "        if written >= signs:\n",
        "        if not about_id:\n",
        (f"{_SEARCH}::test_a_step_ends_when_enough_is_written_and_the_next_goes_on",),
    ),
    Mutant(
        "the parts of the search's index are never put together",
        "worker/indexer.py",
        "        for _ in range(_MERGES):\n",
        "        for _ in range(0):\n",
        (f"{_SEARCH}::test_the_index_is_put_together_after_what_was_written",),
    ),
    Mutant(
        "a customer's new name is not heard of",
        "search/store/tickets.py",
        '    if kind == "customer.updated":\n',
        '    if kind == "customer.renamed":\n',
        (f"{_SEARCH}::test_a_renamed_customer_is_found_by_the_new_name_alone",),
    ),
    Mutant(
        "events that were pruned too early are forgotten",
        "search/store/queue.py",
        ' or row["position"] < pruned:\n',
        ":\n",
        (f"{_SEARCH}::test_events_that_are_gone_before_they_were_looked_at_are_made_up_for",),
    ),
    Mutant(
        "the search ends at the newest 5,000 tickets",
        "db/migrations/versions/0004_search.py",
        "    IF found = at_most OR walked IS NULL THEN\n",
        "    IF true THEN\n",
        (f"{_SEARCH}::test_what_stands_behind_the_newest_tickets_is_found_too",),
    ),
    Mutant(
        "the function searches for whichever tenant it is given",
        "db/migrations/versions/0004_search.py",
        "    IF of_tenant IS DISTINCT FROM nullif(",
        "    IF false AND of_tenant IS DISTINCT FROM nullif(",
        (f"{_SEARCH}::test_the_function_refuses_another_tenant",),
    ),
    Mutant(
        "the search of customers is of whichever tenant it is given",
        "db/migrations/versions/0005_customer_search.py",
        "    IF of_tenant IS DISTINCT FROM nullif(",
        "    IF false AND of_tenant IS DISTINCT FROM nullif(",
        (f"{_CUSTOMER_SEARCH}::test_the_function_refuses_another_tenant",),
    ),
    Mutant(
        "the search of customers ends at the newest 5,000",
        "db/migrations/versions/0005_customer_search.py",
        "    IF found = at_most OR walked IS NULL THEN\n",
        "    IF true THEN\n",
        (f"{_CUSTOMER_SEARCH}::test_who_stands_behind_the_newest_customers_is_found_too",),
    ),
    Mutant(
        "the search of customers hears of no changes",
        "search/store/customers.py",
        'event["type"] in ("customer.created", "customer.updated")',
        'event["type"] == "customer.created"',
        (f"{_CUSTOMER_SEARCH}::test_who_was_changed_is_found_by_what_is_known_now_alone",),
    ),
    Mutant(
        "the search of customers is asked before it has been made",
        "search/store/lookup.py",
        'return row is not None and row["after_id"] is None',
        "return row is not None or tenant_id != ''",
        (
            f"{_CUSTOMER_SEARCH}"
            "::test_customers_of_before_are_indexed_in_steps_and_until_then_not_asked_for",
        ),
    ),
    Mutant(
        "the search of customers takes whole words only",
        "search/rules.py",
        "Term((word,), is_prefix=True)",
        "Term((word,))",
        (f"{_CUSTOMER_SEARCH}::test_whom_an_index_finds_a_look_at_everybody_would_find",),
    ),
    Mutant(
        "the search of customers looks through all of them for parts of words",
        "customers/actions.py",
        "newest=None if found is None else _LOOKED_THROUGH",
        "newest=None",
        (
            "tests/customers/test_pages.py::test_parts_of_words_are_looked_for_among_the_newest"
            "_and_among_all_until_there_is_an_index",
        ),
    ),
    Mutant(
        "pages do not escape",
        "web/pages/environment.py",
        "autoescape=True,",
        "autoescape=False,",
        (f"{_HOOK_PAGES}::test_hostile_text_is_shown_as_text",),
    ),
    Mutant(
        "what a receiver answers is taken for HTML",
        "webhooks/templates/delivery.html",
        "{{ attempt.response.body }}",
        "{{ attempt.response.body | safe }}",
        (f"{_HOOK_PAGES}::test_hostile_text_is_shown_as_text",),
    ),
    Mutant(
        "a form's token is only asked for, not compared",
        "web/pages/forms.py",
        "    if not hmac.compare_digest(sent.encode(), token.encode()):\n",
        "    if not sent:\n",
        (f"{_WEB_PAGES}::test_no_form_is_taken_without_its_token",),
    ),
    Mutant(
        "a neighbouring site may send forms",
        "web/pages/forms.py",
        '_OURS = (b"same-origin", b"none")',
        '_OURS = (b"same-origin", b"same-site", b"none")',
        (f"{_WEB_PAGES}::test_no_form_of_another_site_is_taken",),
    ),
    Mutant(
        "any path is a place to return to",
        "web/pages/render.py",
        "is_ours(path) and not path",
        'path.startswith("/") and not path',
        (f"{_LOG_IN_PAGES}::test_a_log_in_leads_to_no_other_place",),
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
        "pages for administrators are for everybody with a log-in",
        "routes.py",
        "_OFFICE = SessionGuard(ADMINISTRATORS)",
        "_OFFICE = SessionGuard(ROLES)",
        (f"{_WEB_PAGES}::test_an_agent_is_told_in_words_whom_to_ask",),
    ),
    Mutant(
        "a page of a deleted or foreign endpoint says more than that there is none",
        "webhooks/pages/endpoints.py",
        "        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)\n"
        "        return endpoint,",
        "        endpoint = (await endpoint_store.list_endpoints(tx, tenant_id, wanted))[0]\n"
        "        return endpoint,",
        (f"{_HOOK_PAGES}::test_deleting_says_what_it_means_before",),
    ),
    Mutant(
        "a form forgets what was typed",
        "webhooks/pages/endpoints.py",
        'return await _form(request, "new.html", _wanted(form), refusal)',
        'return await _form(request, "new.html", {**_wanted(form), "url": ""}, refusal)',
        (
            f"{_HOOK_PAGES}"
            "::test_a_form_keeps_what_was_typed_and_says_beside_the_field_what_is_wrong",
        ),
    ),
    Mutant(
        "a page in a browser: a field has no label",
        "web/templates/pages/fields.html",
        '<label for="{{ name }}">{{ label }}</label>',
        "<div>{{ label }}</div>",
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a page in a browser: a subject is taken for HTML",
        "tickets/templates/ticket.html",
        "<h1><bdi>{{ ticket.subject }}</bdi></h1>",
        "<h1><bdi>{{ ticket.subject | safe }}</bdi></h1>",
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a page in a browser: what was typed is taken for HTML",
        "web/templates/pages/fields.html",
        'value="{{ value }}"{{ described(',
        'value="{{ value | safe }}"{{ described(',
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
        (
            "tests/browser/test_every_page.py::"
            "test_a_text_runs_where_nothing_holds_it_back_and_is_seen",
        ),
    ),
    Mutant(
        "a page in a browser: hard to read in the dark",
        "web/static/desk.css",
        "--soft: #9fadaf;",
        "--soft: #4d585a;",
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a page in a browser: wider than a phone",
        "web/static/desk.css",
        "body { margin: 0; overflow-wrap: anywhere; }",
        "body { margin: 0; }",
        (_EVERY_PAGE,),
    ),
    Mutant(
        "a page in a browser: another site's may send forms",
        "web/pages/forms.py",
        '_OURS = (b"same-origin", b"none")',
        '_OURS = (b"same-origin", b"same-site", b"cross-site", b"none")',
        ("tests/browser/test_other_sites.py::test_nothing_that_another_site_sends_is_done",),
    ),
    Mutant(
        "a page in a browser: of two sessions the last one counts",
        "web/request.py",
        "return found[0] if len(found) == 1 else None",
        "return found[-1] if found else None",
        ("tests/browser/test_other_sites.py::test_a_neighbour_cannot_plant_a_session_of_its_own",),
    ),
    Mutant(
        "an endpoint is not leased",
        "webhooks/store/deliveries.py",
        "(leased_until IS NULL OR leased_until <= :now)",
        "TRUE",
        (
            f"{_LEASES}::test_two_workers_share_the_work_and_send_nothing_twice",
            f"{_LEASES}::test_what_another_holds_is_left_alone_until_its_lease_has_run_out",
        ),
    ),
    Mutant(
        "a lease never runs out",
        "webhooks/store/deliveries.py",
        "(leased_until IS NULL OR leased_until <= :now)",
        "leased_until IS NULL",
        (
            f"{_LEASES}::test_what_another_holds_is_left_alone_until_its_lease_has_run_out",
            "tests/resilience/test_killed.py::test_every_event_arrives_though_the_worker_is_killed",
        ),
    ),
    Mutant(
        "what comes while an endpoint is let go is overlooked",
        "webhooks/store/deliveries.py",
        " AND leased_until = :lease AND wakes = :wakes\n",
        " AND leased_until = :lease\n",
        (f"{_LEASES}::test_what_comes_while_an_endpoint_is_let_go_is_not_forgotten",),
    ),
    Mutant(
        "the leases of a killed server are kept",
        "worker/background_loop.py",
        "self._has_old_leases = not state.settings.database_url",
        "self._has_old_leases = False",
        (f"{_LEASES}::test_what_a_killed_server_held_is_delivered_by_the_next",),
    ),
    Mutant(
        "endpoints are not let go at the end of the process",
        "webhooks/delivery/deliverer.py",
        "        if self._is_broken:\n",
        "        if self._is_broken or self._deliverer.is_ending:\n",
        (f"{_LEASES}::test_what_takes_too_long_at_the_end_is_sent_by_the_next_at_once",),
    ),
    Mutant(
        "an event is placed though its deliveries could not be made",
        "worker/sequencer.py",
        "        await fan_out.add(tx, deliveries, now_us)\n",
        "        with __import__('contextlib').suppress(Exception):\n"
        "            await fan_out.add(tx, deliveries, now_us)\n",
        ("tests/event_log/test_sequencer.py::test_no_event_has_a_place_without_its_deliveries",),
    ),
    Mutant(
        "retries are spread too far",
        "webhooks/delivery/schedule.py",
        "_SPREAD_PERCENT = 18",
        "_SPREAD_PERCENT = 40",
        (f"{_SCHEDULE}::test_each_delay_is_near_its_place_in_the_schedule",),
    ),
    Mutant(
        "a receiver may put its retries off for ever",
        "webhooks/delivery/schedule.py",
        "min(max(wish_us, base_us), 2 * base_us)",
        "max(wish_us, base_us)",
        (f"{_SCHEDULE}::test_a_wish_is_granted_from_once_to_twice_the_delay",),
    ),
    Mutant(
        "each attempt has an id of its own",
        "webhooks/delivery/signed_post.py",
        '"webhook-id": event_id,',
        '"webhook-id": f"{event_id}-{now_us}",',
        (f"{_DELIVERY}::test_what_fails_arrives_later_under_the_same_id",),
    ),
    Mutant(
        "an endpoint that fails is asked as often as one that does not",
        "webhooks/delivery/deliverer.py",
        "return self.failing_since is not None or self._deliverer",
        "return self._deliverer",
        (f"{_DELIVERY}::test_whoever_answers_badly_is_asked_one_at_a_time",),
    ),
    Mutant(
        "endpoints that fail take the places of others",
        "webhooks/delivery/deliverer.py",
        "        healthy = len(self._sessions) - failing\n",
        "        healthy = len(self._sessions)\n",
        (
            "tests/webhooks/test_isolation.py"
            "::test_endpoints_that_fail_leave_the_places_of_others_alone",
        ),
    ),
    Mutant(
        "a success does not end the days of failure",
        "webhooks/delivery/results.py",
        'status="succeeded", failing_since=None, has_turned=has_turned',
        'status="succeeded"',
        ("tests/webhooks/test_disabling.py::test_a_success_ends_the_days_of_failure",),
    ),
    Mutant(
        "an old log-in changes keys",
        "identity/auth/session_guard.py",
        "if is_form and self.is_careful and not visitor.is_fresh:",
        "if False:",
        (f"{_FRESH}::test_everything_that_outlasts_a_log_in_asks_and_else_changes_nothing",),
    ),
    Mutant(
        "what is withheld is done",
        "web/request.py",
        "            raise self.pending_refusal\n",
        "            pass\n",
        (
            f"{_FRESH}::test_everything_that_outlasts_a_log_in_asks_and_else_changes_nothing",
            f"{_FRESH}::test_guesses_are_counted_with_those_at_the_log_in",
        ),
    ),
    Mutant(
        "a renewed session is taken for a fresh log-in",
        "identity/auth/session.py",
        "is_fresh=request.now_us - token.issued_at <= _FRESH_US",
        "is_fresh=request.now_us + 3_600_000_000 - token.expires_at <= _FRESH_US",
        (f"{_FRESH}::test_a_session_that_was_renewed_is_no_fresher",),
    ),
    Mutant(
        "the session of before outlives the password",
        "identity/auth/reauthentication.py",
        "    await login.end(request, token)\n",
        "",
        (f"{_FRESH}::test_the_right_password_begins_a_session_and_ends_the_one_before",),
    ),
    Mutant(
        "asking for the password makes an old form a young one",
        "api_keys/pages/keys.py",
        'seen=forms.read(request).text("seen") if is_asked_again else key.secret_version',
        "seen=key.secret_version",
        (f"{_FRESH}::test_a_form_that_is_out_of_date_stays_so_while_the_password_is_asked_for",),
    ),
    Mutant(
        "what is sent into an ended log-in is lost",
        "web/pages/render.py",
        "if typed is not None and typed.typed and is_ours(typed.to):",
        "if typed is not None and not typed.typed and is_ours(typed.to):",
        (
            f"{_KEPT}::test_what_is_sent_into_an_ended_log_in_waits_for_the_next_one",
            f"{_KEPT}::test_every_form_is_kept_and_no_password",
        ),
    ),
    Mutant(
        "a wrong password loses what was typed before",
        "identity/pages/login.py",
        "return await _ask(request, wanted, typed=typed, email=email, refusal=refusal)",
        "return await _ask(request, wanted, email=email, refusal=refusal)",
        (f"{_KEPT}::test_what_is_sent_into_an_ended_log_in_waits_for_the_next_one",),
    ),
    Mutant(
        "a log-in sends what it carries anywhere",
        "identity/pages/login.py",
        "typed if typed is not None and render.is_ours(typed.to) else None",
        "typed",
        (f"{_KEPT}::test_what_a_log_in_carries_goes_to_pages_of_ours_only",),
    ),
    Mutant(
        "passwords are written into pages that keep a form",
        "web/pages/resubmission.py",
        "left_out = {*PASSWORDS, forms.TOKEN}",
        "left_out = {forms.TOKEN}",
        (f"{_KEPT}::test_every_form_is_kept_and_no_password",),
    ),
    Mutant(
        "a form of an earlier log-in is lost",
        "web/pages/render.py",
        "    elif not is_away:\n        typed = None\n",
        "    if not is_away:\n        typed = None\n",
        (f"{_KEPT}::test_a_form_of_an_earlier_log_in_is_kept",),
    ),
    Mutant(
        "a log-in cannot hold what a page let it carry",
        "web/pages/resubmission.py",
        "_MOST_BYTES = MAX_BODY_BYTES - 8 * 1024",
        "_MOST_BYTES = MAX_BODY_BYTES",
        (f"{_KEPT}::test_a_form_that_a_log_in_could_not_carry_is_not_kept",),
    ),
    Mutant(
        "a log-in without storage loses what it carries",
        "identity/pages/login.py",
        "except (ValidationFailed, Unauthorized, TooManyRequests, ServiceUnavailable) as refusal:",
        "except (ValidationFailed, Unauthorized, TooManyRequests) as refusal:",
        (
            f"{_KEPT}::test_a_log_in_without_storage_keeps_what_it_carries",
            "tests/test_faults.py::test_pages_keep_what_a_full_disk_does_not_take",
        ),
    ),
    Mutant(
        "an address can ask for a priority that PostgreSQL has no room for",
        "tickets/pages/inbox_query.py",
        '"changed": 18, "priority": 1',
        '"changed": 18, "priority": 18',
        (f"{_INBOX}::test_a_place_behind_no_priority_is_passed_over",),
    ),
    Mutant(
        "a ticket that was under way while nothing was shown is never told",
        "tickets/pages/inbox.py",
        "ids.lowest(request.now_us - _LATE_US)",
        "ids.lowest(request.now_us)",
        (f"{_INBOX}::test_a_ticket_that_was_under_way_while_nothing_was_shown_is_new",),
    ),
    Mutant(
        "a history keeps every description whole",
        "tickets/store/history.py",
        "is_long = isinstance(text, str) and len(text) > _MOST_OF_A_TEXT",
        "is_long = False",
        ("tests/tickets/test_history.py::test_of_long_texts_the_beginning_is_kept",),
    ),
    Mutant(
        "who is not among the newest people cannot take a ticket",
        "tickets/pages/ticket.py",
        "    agents.setdefault(reader.id, reader.name)\n",
        "",
        (f"{_TICKET_PAGES}::test_among_many_colleagues_everybody_is_named_and_can_take_a_ticket",),
    ),
    Mutant(
        "behind a prefix a reload leads out of the service",
        "tickets/templates/bulk_done.html",
        'data-address="{{ root }}{{ back }}"',
        'data-address="{{ back }}"',
        (f"{_BULK}::test_behind_a_prefix_a_reload_leads_to_the_view_one_came_from",),
    ),
    Mutant(
        "what had to wait for hours is taken at once",
        "telemetry/key_usage.py",
        "yield dict(sorted(late[at : at + _AT_ONCE]))",
        "yield dict(sorted(late))",
        (f"{_USAGE}::test_what_had_to_wait_for_hours_is_taken_in_batches_too",),
    ),
    Mutant(
        "a page that is left open says nothing of an ended log-in",
        "web/static/desk.js",
        'if (told.type !== "opaqueredirect") ended',
        "if (told.type) ended",
        ("tests/browser/test_left_open.py::test_an_open_page_says_that_its_log_in_has_ended",),
    ),
    Mutant(
        "single keys cannot be turned off",
        "web/static/desk.js",
        " || event.altKey || areKeysOff()",
        " || event.altKey",
        ("tests/browser/test_shortcuts.py::test_single_keys_stay_off_for_who_turns_them_off",),
    ),
    Mutant(
        "a ticket's box is too small for a thumb",
        "web/static/desk.css",
        ".tickets .pick { width: 1.6rem; height: 1.6rem; }",
        ".tickets .pick { width: 1.1rem; height: 1.1rem; }",
        ("tests/browser/test_inbox.py::test_many_tickets_are_changed_at_once",),
    ),
)
