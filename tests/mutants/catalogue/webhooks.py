"""Mutants of `webhooks`."""

from tests.mutants.mutant import Mutant

_WEBHOOKS = "tests/webhooks"
_ENDPOINTS = f"{_WEBHOOKS}/test_endpoints.py"
_ROTATION = f"{_WEBHOOKS}/test_rotation.py"
_LIBRARIES = "tests/webhooks/test_verifying_libraries.py::test_the_libraries_verify"
_HOOK_PAGES = "tests/webhooks/test_pages.py"
_LEASES = "tests/webhooks/test_leases.py"
_SCHEDULE = "tests/webhooks/test_schedule.py"
_DELIVERY = "tests/webhooks/test_delivery.py"
_FAN_OUT = "tests/webhooks/test_fan_out.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "the page counts tests among the failed deliveries",
        "webhooks/store/delivery_log.py",
        "        AND d.id >= :oldest_id AND d.event_type <> :test\n"
        "    ORDER BY d.id LIMIT :limit) AS",
        "        AND d.id >= :oldest_id AND d.event_type <> :test || '-'\n"
        "    ORDER BY d.id LIMIT :limit) AS",
        (f"{_HOOK_PAGES}::test_failed_deliveries_of_a_period_are_redelivered_by_a_form",),
    ),
    Mutant(
        "a replayed request connects to its URL again",
        "webhooks/endpoint_service.py",
        "    await _use_up_signature(request)\n",
        "",
        (f"{_WEBHOOKS}/test_by_key.py::test_a_replayed_request_does_not_connect_to_its_url_again",),
    ),
    Mutant(
        "events go to the endpoints of other tenants",
        "webhooks/delivery/fan_out.py",
        "subscriptions.get(tenant_id, ())",
        "sum(subscriptions.values(), [])",
        (f"{_FAN_OUT}::test_an_event_is_delivered_to_the_active_endpoints_that_subscribe_to_it",),
    ),
    Mutant(
        "the fan-out passes events whose deliveries it could not make",
        "webhooks/delivery/fan_out.py",
        "            await fan_out_store.add(tx, deliveries, now_us)\n        if extended:\n",
        "            with __import__('contextlib').suppress(Exception):\n"
        "                await fan_out_store.add(tx, deliveries, now_us)\n        if extended:\n",
        (
            f"{_FAN_OUT}::test_deliveries_that_cannot_be_made_are_made_later"
            "_and_do_not_hold_back_the_feed",
        ),
    ),
    Mutant(
        "the fan-out passes the events behind the last delivery of a step",
        "webhooks/delivery/fan_out.py",
        "        return handled\n",
        "        return len(events)\n",
        (f"{_FAN_OUT}::test_many_deliveries_are_made_in_several_steps_and_in_order",),
    ),
    Mutant(
        "an endpoint receives events from before its activation",
        "webhooks/delivery/fan_out.py",
        "if event.position > one.starts_after\n        and ",
        "if ",
        (
            f"{_FAN_OUT}::test_an_endpoint_receives_no_event_from_before_its_activation"
            "_however_late_the_fan_out_is",
        ),
    ),
    Mutant(
        "concurrent creates exceed the limit of endpoints",
        "webhooks/actions.py",
        '    await tx.lock("webhooks", caller.tenant_id)\n',
        "",
        (f"{_WEBHOOKS}/test_limits.py::test_of_60_concurrently_created_endpoints_50_exist",),
    ),
    Mutant(
        "the URL of an endpoint is not tried when it is changed",
        "webhooks/endpoint_service.py",
        "change.url != endpoint.url:",
        "not endpoint.url:",
        (
            f"{_ENDPOINTS}::test_a_url_that_cannot_be_sent_to_is_refused_with_its_cause",
            f"{_ENDPOINTS}::test_url_is_connected_to_before_it_is_stored_and_nothing_is_sent",
        ),
    ),
    Mutant(
        "the old webhook secret ends with its rotation",
        "webhooks/actions.py",
        "        sealed_old_secret=endpoint.sealed_secret,\n",
        "        sealed_old_secret=None,\n",
        (
            f"{_ROTATION}::test_both_secrets_sign_for_a_day_then_only_the_new_one",
            f"{_ROTATION}::test_second_rotation_within_a_day_ends_the_first_secret",
        ),
    ),
    Mutant(
        "rotating the master key does not reseal the old webhook secret",
        "webhooks/actions.py",
        "_reseal(endpoint, old, version - 1, key_ring)",
        "old",
        (f"{_ROTATION}::test_resealing_moves_both_secrets_to_the_new_master_key",),
    ),
    Mutant(
        "the deletion of an endpoint keeps its secrets",
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
        (f"{_ENDPOINTS}::test_every_action_is_audited_with_actor_and_address_and_no_secret",),
    ),
    Mutant(
        "a change of an endpoint overwrites the state that the loop set",
        "webhooks/store/endpoints.py",
        "UPDATE endpoints SET url = :url,",
        "UPDATE endpoints SET is_active = :is_active, url = :url,",
        (f"{_ENDPOINTS}::test_changes_by_users_and_by_the_worker_do_not_overwrite_each_other",),
    ),
    Mutant(
        "a delivery is found under any endpoint",
        "webhooks/store/endpoints.py",
        "d.id = :id AND d.endpoint_id = :endpoint_id LIMIT 1",
        "d.id = :id LIMIT 1",
        (f"{_WEBHOOKS}/test_log.py::test_delivery_is_found_only_under_its_endpoint",),
    ),
    Mutant(
        "a redelivery continues the exhausted schedule",
        "webhooks/store/endpoints.py",
        "due_at = :now, retry_count = 0\n",
        "due_at = :now\n",
        (f"{_WEBHOOKS}/test_redelivery.py::test_failed_redelivery_restarts_the_schedule",),
    ),
    Mutant(
        "a redelivery does not wake the deliverer",
        "webhooks/actions.py",
        "    await endpoint_store.wake(tx, caller.tenant_id, endpoint_id, now_us)\n",
        "",
        (
            f"{_WEBHOOKS}/test_redelivery.py::"
            "test_redelivery_is_retried_with_the_same_id_until_it_succeeds",
        ),
    ),
    Mutant(
        "two changes of an endpoint at once undo each other",
        "webhooks/actions.py",
        '    await tx.lock(f"webhook {endpoint_id}", tenant_id)\n',
        "    await tx.try_lock(endpoint_id, tenant_id)\n",
        (f"{_ENDPOINTS}::test_concurrent_changes_do_not_overwrite_each_other",),
    ),
    Mutant(
        "the old secret does not sign",
        "webhooks/delivery/signed_post.py",
        "now_us < (endpoint.old_secret_until or 0)",
        "now_us < 0",
        (f"{_LIBRARIES}_with_both_secrets_for_a_day_after_a_rotation",),
    ),
    Mutant(
        "the old secret signs without a time limit",
        "webhooks/delivery/signed_post.py",
        "now_us < (endpoint.old_secret_until or 0)",
        "now_us",
        (f"{_LIBRARIES}_with_both_secrets_for_a_day_after_a_rotation",),
    ),
    Mutant(
        "signatures are separated by commas",
        "webhooks/delivery/signed_post.py",
        '" ".join(signatures)',
        '",".join(signatures)',
        (f"{_LIBRARIES}_with_both_secrets_for_a_day_after_a_rotation",),
    ),
    Mutant(
        "the response of a receiver is not escaped",
        "webhooks/templates/delivery.html",
        "{{ attempt.response.body }}",
        "{{ attempt.response.body | safe }}",
        (f"{_HOOK_PAGES}::test_hostile_text_is_shown_as_text",),
    ),
    Mutant(
        "a page reveals a deleted or foreign endpoint",
        "webhooks/pages/endpoints.py",
        "        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)\n"
        "        return endpoint,",
        "        endpoint = (await endpoint_store.list_endpoints(tx, tenant_id, page_request))[0]\n"
        "        return endpoint,",
        (f"{_HOOK_PAGES}::test_deletion_is_confirmed",),
    ),
    Mutant(
        "a form loses the typed values",
        "webhooks/pages/endpoints.py",
        'return await _form(request, "new.html", _read_fields(form), error)',
        'return await _form(request, "new.html", {**_read_fields(form), "url": ""}, error)',
        (f"{_HOOK_PAGES}::test_invalid_form_keeps_its_values_and_shows_faults_beside_fields",),
    ),
    Mutant(
        "an endpoint is not leased",
        "webhooks/store/deliveries.py",
        "(leased_until IS NULL OR leased_until <= :now)",
        "TRUE",
        (
            f"{_LEASES}::test_two_workers_send_each_delivery_once",
            f"{_LEASES}::test_lease_of_another_process_is_respected_until_it_expires",
        ),
    ),
    Mutant(
        "a lease never expires",
        "webhooks/store/deliveries.py",
        "(leased_until IS NULL OR leased_until <= :now)",
        "leased_until IS NULL",
        (
            f"{_LEASES}::test_lease_of_another_process_is_respected_until_it_expires",
            "tests/resilience/test_killed.py::test_every_event_arrives_though_the_worker_is_killed",
        ),
    ),
    Mutant(
        "an endpoint is asked without a pause while the event of its delivery has no position",
        "webhooks/store/deliveries.py",
        ' and not state["is_waiting"]:\n',
        ":\n",
        (
            "tests/webhooks/test_redelivery.py"
            "::test_endpoint_is_left_alone_while_the_event_of_its_delivery_has_no_position",
        ),
    ),
    Mutant(
        "a delivery that is added while a lease is released is not delivered",
        "webhooks/store/deliveries.py",
        " AND leased_until = :lease AND wakes = :wakes\n",
        " AND leased_until = :lease\n",
        (f"{_LEASES}::test_delivery_added_during_the_release_is_sent",),
    ),
    Mutant(
        "leases are not released when the process exits",
        "webhooks/delivery/deliverer.py",
        "        if self._is_broken:\n",
        "        if self._is_broken or self._deliverer.is_ending:\n",
        (f"{_LEASES}::test_request_cancelled_at_shutdown_is_sent_by_the_next_process_at_once",),
    ),
    Mutant(
        "retries are spread too far",
        "webhooks/delivery/schedule.py",
        "_JITTER_PERCENT = 18",
        "_JITTER_PERCENT = 40",
        (f"{_SCHEDULE}::test_delays_follow_the_schedule_with_jitter",),
    ),
    Mutant(
        "an asterisk also subscribes to tests",
        "webhooks/rules.py",
        " and event_type != TEST)",
        ")",
        (
            "tests/webhooks/test_endpoints.py::test_every_event_type_is_subscribed_to_by_an_asterisk",
        ),
    ),
    Mutant(
        "a receiver may delay its retries without limit",
        "webhooks/delivery/schedule.py",
        "min(max(requested_us, _SECOND_US), _HOUR_S * _SECOND_US)",
        "max(requested_us, _SECOND_US)",
        (f"{_SCHEDULE}::test_retry_after_is_honoured_from_a_second_to_an_hour",),
    ),
    Mutant(
        "each attempt has an id of its own",
        "webhooks/delivery/signed_post.py",
        '"webhook-id": event_id,',
        '"webhook-id": f"{event_id}-{now_us}",',
        (f"{_DELIVERY}::test_failed_delivery_is_retried_with_the_same_id",),
    ),
    Mutant(
        "a failing endpoint gets as many parallel requests as a healthy one",
        "webhooks/delivery/deliverer.py",
        "            self.failing_since is not None\n            or in_flight",
        "            in_flight",
        (f"{_DELIVERY}::test_failing_endpoint_gets_one_request_at_a_time",),
    ),
    Mutant(
        "failing endpoints take the slots of healthy ones",
        "webhooks/delivery/deliverer.py",
        "        healthy = len(self._sessions) - failing\n",
        "        healthy = len(self._sessions)\n",
        (
            "tests/webhooks/test_isolation.py"
            "::test_failing_endpoints_do_not_use_the_slots_of_others",
        ),
    ),
    Mutant(
        "a success does not reset failing_since",
        "webhooks/delivery/results.py",
        'status="succeeded", failing_since=None, has_changed=has_changed',
        'status="succeeded"',
        ("tests/webhooks/test_disabling.py::test_success_resets_failing_since",),
    ),
    Mutant(
        "one tenant's endpoints may have all requests in flight",
        "webhooks/delivery/deliverer.py",
        "in_flight[self._endpoint.tenant_id] >= _MANY_OF_TENANT",
        "False",
        (
            "tests/webhooks/test_isolation.py"
            "::test_hanging_endpoints_of_a_tenant_leave_requests_to_other_tenants",
        ),
    ),
    Mutant(
        "a delivery shows 100 attempts of any size",
        "webhooks/store/endpoints.py",
        "_MAX_ATTEMPTS_BYTES = 128 * 1024",
        "_MAX_ATTEMPTS_BYTES = 128 * 1024 * 1024",
        ("tests/webhooks/test_log.py::test_a_delivery_shows_as_many_attempts_as_fit",),
    ),
)
