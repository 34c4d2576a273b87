"""Mutants of `client` and of the commands that use it."""

from tests.mutants.mutant import Mutant

_CLIENT = "tests/client"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "the client signs with whatever time it is told",
        "client/signing.py",
        "        if abs(offset_s) > MAX_CORRECTION_S:\n",
        "        if abs(offset_s) > 10**40:\n",
        (f"{_CLIENT}/test_signing.py::test_a_time_that_is_over_a_day_away_is_not_signed",),
    ),
    Mutant(
        "the commands print control characters in JSON",
        "cli/output.py",
        '_CONTROLS.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text)',
        "text",
        (
            "tests/cli/test_integration.py::test_a_table_fits_the_terminal_and_shows_no_control"
            "_characters",
        ),
    ),
    Mutant(
        "the client signs equal requests of a second alike",
        "client/signing.py",
        "            timestamp = max(now_s, self._last.pop(key, 0) + 1)\n",
        "            timestamp = now_s\n",
        (
            f"{_CLIENT}/test_signing.py::test_equal_requests_have_different_signatures_and"
            "_timestamps_near_the_clock",
            f"{_CLIENT}/test_signing.py::test_replay_protection_accepts_equal_writes",
        ),
    ),
    Mutant(
        "the client decompresses a response without a bound",
        "client/bodies.py",
        ".decompress(chunk, self._max_bytes - self._size_bytes + 1)",
        ".decompress(chunk)",
        (
            f"{_CLIENT}/test_bounds.py::test_a_compressed_response_is_bounded_by_its"
            "_decompressed_size",
        ),
    ),
    Mutant(
        "the client follows redirects",
        "client/desk.py",
        "follow_redirects=False",
        "follow_redirects=True",
        (f"{_CLIENT}/test_faults.py::test_a_redirect_is_never_followed",),
    ),
    Mutant(
        "each attempt of a POST has an Idempotency-Key of its own",
        "client/desk.py",
        "        response = self._attempt(lambda: self._session.make_request(operation))\n",
        "        headers = dict(operation.headers)\n"
        "        response = self._attempt(lambda: self._session.make_request(operation._replace(\n"
        '            headers={**headers, "idempotency-key": operations.new_key()})))\n',
        (
            f"{_CLIENT}/test_faults.py::test_a_post_is_repeated_with_its_idempotency_key_and"
            "_a_new_signature",
        ),
    ),
    Mutant(
        "an export continues without cutting its file to the stored size",
        "cli/integration/export.py",
        "        output.truncate(at.size_bytes)\n        output.seek(at.size_bytes)\n",
        "        output.seek(0, 2)\n",
        (
            "tests/cli/test_integration.py::test_an_interrupted_export_continues_and"
            "_repeats_nothing",
        ),
    ),
)
