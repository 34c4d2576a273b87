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
        "events go to the endpoints of other tenants",
        "webhooks/delivery/fan_out.py",
        "subscriptions.get(event.tenant_id, ())",
        "sum(subscriptions.values(), [])",
        (f"{_FAN_OUT}::test_an_event_is_delivered_to_the_active_endpoints_that_subscribe_to_it",),
    ),
    Mutant(
        "the fan-out passes events whose deliveries it could not make",
        "webhooks/delivery/fan_out.py",
        "            await fan_out_store.add(tx, deliveries, now_us)\n",
        "            with __import__('contextlib').suppress(Exception):\n"
        "                await fan_out_store.add(tx, deliveries, now_us)\n",
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
        "concurrent creates exceed the limit of endpoints",
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
        "rotating the master key does not reseal the old webhook secret",
        "webhooks/actions.py",
        "_resealed(endpoint, old, version - 1, key_ring)",
        "old",
        (f"{_ROTATION}::test_a_new_master_key_takes_over_both_secrets",),
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
        (f"{_ENDPOINTS}::test_every_deed_is_audited_with_who_and_where_and_no_secret",),
    ),
    Mutant(
        "a change of an endpoint overwrites the state that the loop set",
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
        "a redelivery continues the exhausted schedule",
        "webhooks/store/endpoints.py",
        "due_at = :now, retry_count = 0\n",
        "due_at = :now\n",
        (
            f"{_WEBHOOKS}/test_redelivery.py::"
            "test_a_redelivery_that_fails_has_its_whole_schedule_again",
        ),
    ),
    Mutant(
        "a redelivery does not wake the deliverer",
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
        "        endpoint = (await endpoint_store.list_endpoints(tx, tenant_id, wanted))[0]\n"
        "        return endpoint,",
        (f"{_HOOK_PAGES}::test_deleting_says_what_it_means_before",),
    ),
    Mutant(
        "a form loses the typed values",
        "webhooks/pages/endpoints.py",
        'return await _form(request, "new.html", _wanted(form), refusal)',
        'return await _form(request, "new.html", {**_wanted(form), "url": ""}, refusal)',
        (
            f"{_HOOK_PAGES}"
            "::test_a_form_keeps_what_was_typed_and_says_beside_the_field_what_is_wrong",
        ),
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
        "a lease never expires",
        "webhooks/store/deliveries.py",
        "(leased_until IS NULL OR leased_until <= :now)",
        "leased_until IS NULL",
        (
            f"{_LEASES}::test_what_another_holds_is_left_alone_until_its_lease_has_run_out",
            "tests/resilience/test_killed.py::test_every_event_arrives_though_the_worker_is_killed",
        ),
    ),
    Mutant(
        "a delivery that is added while a lease is released is not delivered",
        "webhooks/store/deliveries.py",
        " AND leased_until = :lease AND wakes = :wakes\n",
        " AND leased_until = :lease\n",
        (f"{_LEASES}::test_what_comes_while_an_endpoint_is_let_go_is_not_forgotten",),
    ),
    Mutant(
        "leases are not released when the process exits",
        "webhooks/delivery/deliverer.py",
        "        if self._is_broken:\n",
        "        if self._is_broken or self._deliverer.is_ending:\n",
        (f"{_LEASES}::test_what_takes_too_long_at_the_end_is_sent_by_the_next_at_once",),
    ),
    Mutant(
        "retries are spread too far",
        "webhooks/delivery/schedule.py",
        "_JITTER_PERCENT = 18",
        "_JITTER_PERCENT = 40",
        (f"{_SCHEDULE}::test_each_delay_is_near_its_place_in_the_schedule",),
    ),
    Mutant(
        "a receiver may delay its retries without limit",
        "webhooks/delivery/schedule.py",
        "min(max(requested_us, base_us), 2 * base_us)",
        "max(requested_us, base_us)",
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
        "a failing endpoint gets as many parallel requests as a healthy one",
        "webhooks/delivery/deliverer.py",
        "return self.failing_since is not None or self._deliverer",
        "return self._deliverer",
        (f"{_DELIVERY}::test_whoever_answers_badly_is_asked_one_at_a_time",),
    ),
    Mutant(
        "failing endpoints take the slots of healthy ones",
        "webhooks/delivery/deliverer.py",
        "        healthy = len(self._sessions) - failing\n",
        "        healthy = len(self._sessions)\n",
        (
            "tests/webhooks/test_isolation.py"
            "::test_endpoints_that_fail_leave_the_places_of_others_alone",
        ),
    ),
    Mutant(
        "a success does not reset failing_since",
        "webhooks/delivery/results.py",
        'status="succeeded", failing_since=None, has_changed=has_changed',
        'status="succeeded"',
        ("tests/webhooks/test_disabling.py::test_a_success_ends_the_days_of_failure",),
    ),
)
