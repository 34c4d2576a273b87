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
)
