"""Mutants of `telemetry`."""

from tests.mutants.mutant import Mutant

_KEYS = "tests/api_keys"
_USAGE = f"{_KEYS}/test_usage.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "the number of addresses of a key is not limited",
        "telemetry/counters.py",
        "if address not in known and len(known) >= MAX_ADDRESSES:",
        "if not address:",
        (f"{_USAGE}::test_addresses_are_bounded_within_an_hour_and_over_batches",),
    ),
    Mutant(
        "a request without a valid signature counts as a use of the key",
        "telemetry/counters.py",
        "if status != _UNAUTHORIZED:",
        "if status:",
        (f"{_USAGE}::test_for_a_wrong_signature_only_the_status_is_counted",),
    ),
    Mutant(
        "counts that could not be written are taken in one batch",
        "telemetry/counters.py",
        "yield dict(sorted(unwritten[at : at + _BATCH]))",
        "yield dict(sorted(unwritten))",
        (f"{_USAGE}::test_counts_of_many_hours_are_taken_in_batches",),
    ),
    Mutant(
        "every forwarded request is warned of",
        "telemetry/forwarding.py",
        "        if warned_at is None or now_s - warned_at >= _WARN_EVERY_S:\n",
        "        if True:\n",
        (
            "tests/telemetry/test_forwarding.py"
            "::test_forwarded_requests_of_an_untrusted_peer_are_counted_and_warned_of",
        ),
    ),
    Mutant(
        "trusted proxies are warned of",
        "web/request.py",
        " and not is_within(self.peer, trusted):\n            state.metrics",
        ":\n            state.metrics",
        (
            "tests/telemetry/test_forwarding.py"
            "::test_trusted_proxies_and_direct_clients_are_not_reported",
        ),
    ),
)
