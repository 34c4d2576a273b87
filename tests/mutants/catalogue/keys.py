"""Mutants of API keys: signatures, replay, and revocation."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "keys are cached for one second",
        "api_keys/store.py",
        (
            '    row = await tx.find_across_tenants(_FIND_HOME, _FIND, {"key_hash": key_hash})\n'
            "    return None if row is None else _key(row)\n"
        ),
        (
            "    from time import monotonic\n"
            "    cache = find_by_hash.__dict__\n"
            "    at, key = cache.get(key_hash.hex(), (0.0, None))\n"
            "    if monotonic() - at > 1.0:\n"
            '        row = await tx.find_across_tenants(_FIND_HOME, _FIND, {"key_hash": '
            "key_hash})\n"
            "        key = None if row is None else _key(row)\n"
            "        cache[key_hash.hex()] = (monotonic(), key)\n"
            "    return key\n"
        ),
        (
            "tests/spec/test_3_states.py::test_3_a_request_with_a_revoked_key_immediately_gets_401",
            (
                "tests/api_keys/test_immediately.py"
                "::test_a_removed_permission_is_missing_in_the_next_request"
            ),
            "tests/resilience/test_resilience.py::test_a_revoked_key_is_refused_by_all_nodes",
            "tests/resilience/test_resilience.py::test_a_rotated_secret_is_refused_by_all_nodes",
        ),
    ),
    Mutant(
        "no trigger notices that a key was revoked",
        "db/migrations/versions/0071_schema.py",
        "expires_at, revoked_at, sealed_secret",
        "expires_at, sealed_secret",
        (
            (
                "tests/api_keys/test_key_stamp.py"
                "::test_a_change_of_each_column_that_the_look_up_reads_replaces_the_stamp"
            ),
            "tests/db/test_key_stamp.py::test_a_change_of_each_column_replaces_the_stamp",
        ),
    ),
    Mutant(
        "no trigger notices that the hash of a key was changed",
        "db/migrations/versions/0071_schema.py",
        '    "hash_changed": "UPDATE ON api_key_directory",\n',
        "",
        (
            (
                "tests/api_keys/test_key_stamp.py"
                "::test_a_change_of_each_column_that_the_look_up_reads_replaces_the_stamp"
            ),
        ),
    ),
    Mutant(
        "known keys outlive a migration",
        "db/migrate.py",
        '_STAMPS = ("key_stamp", "ticket_stamps")',
        '_STAMPS = ("ticket_stamps",)',
        ("tests/api_keys/test_key_stamp.py::test_a_migration_replaces_the_stamp",),
    ),
    Mutant(
        "known keys outlive a change of their stamp",
        "db/sqlite/snapshot.py",
        "            self._values.clear()\n",
        "",
        (
            "tests/db/test_snapshot.py::test_another_stamp_ends_all_values",
            (
                "tests/api_keys/test_known_keys.py"
                "::test_a_known_key_is_refused_in_the_request_after_a_change"
            ),
            (
                "tests/api_keys/test_known_keys.py"
                "::test_a_known_key_has_its_new_secret_in_the_next_request"
            ),
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
        ("tests/api_keys/test_known_keys.py::test_a_known_key_expires_without_any_change",),
    ),
    Mutant(
        "the key is not read again after an upload",
        "api_keys/guard/signed.py",
        "    if await request.read_body():\n",
        "    if await request.read_body() and False:\n",
        ("tests/api_keys/test_immediately.py::test_a_key_revoked_during_an_upload_is_refused",),
    ),
    Mutant(
        "the signature covers the decoded path",
        "api_keys/guard/signed.py",
        "request.method.encode(), request.target, request.body)\n",
        (
            "request.method.encode(), "
            '__import__("urllib.parse").parse.unquote_to_bytes(request.target), request.body)\n'
        ),
        (
            "tests/api_keys/test_guard_vectors.py::test_vector_is_accepted",
            "tests/api_keys/test_guard_routing.py::test_a_query_is_signed_as_it_was_sent",
        ),
    ),
    Mutant(
        "the response reveals the right signature",
        "api_keys/guard/signed.py",
        "raise refusals.invalid_signature(parts, refusals.digest_of(parts.body))",
        (
            "wrong = refusals.invalid_signature(parts, refusals.digest_of(parts.body))\n"
            "        inner, outer = known.verifier._inner.copy(), known.verifier._outer.copy()\n"
            "        inner.update(signing.message(parts))\n"
            "        outer.update(inner.digest())\n"
            '        wrong.values["received"]["expected"] = outer.hexdigest()\n'
            "        raise wrong"
        ),
        ("tests/api_keys/test_guard_responses.py::test_the_right_signature_is_never_revealed",),
    ),
    Mutant(
        "the secret survives the revocation",
        "api_keys/actions.py",
        "revoked_at=now_us, sealed_secret=None, ",
        "revoked_at=now_us, ",
        ("tests/api_keys/test_store.py::test_the_ciphertext_is_destroyed_by_revocation",),
    ),
    Mutant(
        "a key of a restored backup works without confirmation",
        "api_keys/rules.py",
        "not is_expired(key, now_us) and key.unconfirmed_since is None",
        "not is_expired(key, now_us)",
        ("tests/api_keys/test_confirm.py::test_an_unconfirmed_key_is_refused_with_its_own_code",),
    ),
    Mutant(
        "a used signature is stored outside the transaction of the change",
        "api_keys/guard/replay.py",
        "    return use_signature\n",
        "    await request.state.database.write(use_signature)\n    return None\n",
        (
            (
                "tests/api_keys/test_replay.py"
                "::test_a_write_that_was_refused_has_not_used_its_signature"
            ),
        ),
    ),
    Mutant(
        "a retry under the same Idempotency-Key is refused as a replay",
        "api_keys/guard/replay.py",
        "        return is_used and not await _has_stored_response(tx, request, key)\n",
        "        return is_used\n",
        (
            (
                "tests/api_keys/test_replay.py"
                "::test_a_retry_with_the_same_idempotency_key_gets_the_first_response"
            ),
        ),
    ),
    Mutant(
        "a stale form restores removed permissions",
        "api_keys/actions.py",
        "    check_seen(seen, rules.settings_hash(key))\n",
        "",
        ("tests/api_keys/test_pages.py::test_a_stale_form_does_not_restore_a_permission",),
    ),
    Mutant(
        "the signature of a streamed body is not checked",
        "tickets/attachments/receiving.py",
        "    await _prove(request, digest)\n",
        "",
        ("tests/tickets/test_uploads.py::test_an_upload_is_described",),
    ),
    Mutant(
        "the hash of a streamed body is not part of what is signed",
        "api_keys/guard/upload.py",
        "    if not known.verifier.has_signed(text, headers.signature):\n",
        "    if not (known.verifier.has_signed(text, headers.signature) or digest.size):\n",
        (
            (
                "tests/tickets/test_uploads.py"
                "::test_a_body_with_another_hash_than_was_signed_leaves_nothing"
            ),
        ),
    ),
    Mutant(
        "only the first characters of a signature are compared",
        "crypto/signing.py",
        "        return hmac.compare_digest(outer.hexdigest().encode(), signature)\n",
        "        return outer.hexdigest().encode()[:8] == signature[:8]\n",
        (
            "tests/api_keys/test_bit_changes.py::test_no_change_of_one_bit_is_accepted",
            "tests/crypto/test_signing.py::test_signature_is_compared_in_constant_time",
        ),
    ),
    Mutant(
        "signatures are compared with ==",
        "crypto/signing.py",
        "        return hmac.compare_digest(outer.hexdigest().encode(), signature)\n",
        "        return outer.hexdigest().encode() == signature\n",
        ("tests/crypto/test_signing.py::test_signature_is_compared_in_constant_time",),
    ),
    Mutant(
        "the body is left out of the message",
        "crypto/signing.py",
        "return head(parts) + body_sha256(parts.body)\n",
        "return head(parts) + _EMPTY_SHA256\n",
        ("tests/crypto/test_signing.py::test_signature_of_a_vector",),
    ),
    Mutant(
        "the timestamp of a webhook is not signed",
        "crypto/webhook_signing.py",
        'f"{webhook_id}.{timestamp}.".encode()',
        'f"{webhook_id}.".encode()',
        (
            (
                "tests/webhooks/test_verifying_libraries.py"
                "::test_the_libraries_verify_all_deliveries"
            ),
            (
                "tests/cli/test_webhooks_listen.py"
                "::test_new_events_arrive_byte_for_byte_with_valid_signatures"
            ),
            "tests/crypto/test_webhook_signing.py::test_the_official_library_agrees",
        ),
    ),
    Mutant(
        "the age of a webhook is not checked",
        "crypto/webhook_signing.py",
        "    if age_s > TOLERANCE_S:\n",
        "    if age_s > TOLERANCE_S * 100:\n",
        ("tests/crypto/test_webhook_signing.py::test_the_mistake_is_named",),
    ),
    Mutant(
        "a request shares a read of the key stamp that was sent before it came",
        "db/postgres/shared_read.py",
        "        waiting, self._waiting = self._waiting, []\n",
        (
            "        waiting = self._waiting\n"
            "        asyncio.get_running_loop().call_later(0.3, waiting.clear)\n"
        ),
        ("tests/db/test_shared_read.py::test_who_asks_during_a_read_gets_the_next_one",),
    ),
    Mutant(
        "a waiting request is not authenticated again",
        "feed/api.py",
        "            await request.prove_again()\n",
        "",
        (
            "tests/feed/test_waiting.py::test_revoking_the_key_ends_the_wait",
            "tests/feed/test_waiting.py::test_a_revoked_key_gets_no_events",
            "tests/feed/test_waiting.py::test_rotating_the_secret_ends_the_wait",
            "tests/feed/test_waiting.py::test_the_expiry_of_the_key_ends_the_wait",
        ),
    ),
    Mutant(
        "a signature of a PUT is good for ever",
        "api_keys/guard/signed.py",
        '_WRITES = ("POST", "PUT", "PATCH", "DELETE")',
        '_WRITES = ("POST", "PATCH", "DELETE")',
        ("tests/customers/test_upsert.py::test_a_signature_of_a_put_is_good_for_one_use",),
    ),
    Mutant(
        "a retry that is signed again leaves its signature unused",
        "web/request.py",
        "return await respond_once(tx, once, await find_refusal(self, tx), work, self)\n",
        (
            "if (found := await idempotency.find(tx, once, self.now_us)) is not None:\n"
            "                return Response(found.status, found.body, [_REPLAYED])\n"
            "            return await respond_once(tx, once, await find_refusal(self, tx), work, "
            "self)\n"
        ),
        (
            (
                "tests/api_keys/test_replay.py"
                "::test_a_retry_that_is_signed_again_uses_up_its_signature_too"
            ),
        ),
    ),
    Mutant(
        "a used signature is accepted with another Idempotency-Key",
        "web/request.py",
        "    if refusal is not None:\n        raise refusal\n",
        "",
        (
            (
                "tests/api_keys/test_replay.py"
                "::test_of_eight_copies_under_eight_idempotency_keys_one_is_accepted"
            ),
        ),
    ),
    Mutant(
        "the old webhook secret ends with its rotation",
        "webhooks/actions.py",
        "        sealed_old_secret=endpoint.sealed_secret,\n",
        "        sealed_old_secret=None,\n",
        (
            (
                "tests/webhooks/test_rotation.py"
                "::test_both_secrets_sign_for_a_day_then_only_the_new_one"
            ),
            (
                "tests/webhooks/test_rotation.py"
                "::test_second_rotation_within_a_day_ends_the_first_secret"
            ),
        ),
    ),
    Mutant(
        "the deletion of an endpoint keeps its secrets",
        "webhooks/store/endpoints.py",
        "is_active = FALSE, sealed_secret = NULL,\n    sealed_old_secret = NULL,",
        "is_active = FALSE,",
        ("tests/webhooks/test_endpoints.py::test_a_deleted_endpoints_secrets_are_destroyed",),
    ),
    Mutant(
        "the old secret does not sign",
        "webhooks/delivery/signed_post.py",
        "now_us < (endpoint.old_secret_until or 0)",
        "now_us < 0",
        (
            (
                "tests/webhooks/test_verifying_libraries.py"
                "::test_the_libraries_verify_with_both_secrets_for_a_day_after_a_rotation"
            ),
        ),
    ),
    Mutant(
        "the old secret signs without a time limit",
        "webhooks/delivery/signed_post.py",
        "now_us < (endpoint.old_secret_until or 0)",
        "now_us",
        (
            (
                "tests/webhooks/test_verifying_libraries.py"
                "::test_the_libraries_verify_with_both_secrets_for_a_day_after_a_rotation"
            ),
        ),
    ),
)
