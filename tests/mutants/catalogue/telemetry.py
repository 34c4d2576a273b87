"""Mutants of `telemetry`."""

from tests.mutants.mutant import Mutant

_KEYS = "tests/api_keys"
_USAGE = f"{_KEYS}/test_usage.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a key has as many addresses as its clients like",
        "telemetry/key_usage.py",
        "if address not in known and len(known) >= ADDRESSES_KEPT:",
        "if not address:",
        (f"{_USAGE}::test_addresses_are_bounded_within_an_hour_and_over_batches",),
    ),
    Mutant(
        "whoever cannot sign is counted as a user of the key",
        "telemetry/key_usage.py",
        "if status != _UNAUTHORIZED:",
        "if status:",
        (f"{_USAGE}::test_of_a_wrong_signature_only_that_it_was_refused_is_counted",),
    ),
    Mutant(
        "what had to wait for hours is taken at once",
        "telemetry/key_usage.py",
        "yield dict(sorted(late[at : at + _BATCH]))",
        "yield dict(sorted(late))",
        (f"{_USAGE}::test_what_had_to_wait_for_hours_is_taken_in_batches_too",),
    ),
)
