"""Mutants of `server`."""

from tests.mutants.mutant import Mutant

_ENDING = "tests/cli/test_ending.py"
_DRAINING = "tests/server/test_draining.py"
_CAME_IN = "tests/identity/test_log_in_audit.py"
_BEHIND_THE_ANSWER = "test_a_failure_is_recorded_after_the_response_and_before_the_process_ends"
_KEYS = "tests/api_keys"
_USAGE = f"{_KEYS}/test_usage.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a node exits on SIGTERM without draining",
        "server/serve.py",
        "        server.handle_exit(number, frame)\n",
        '        __import__("os")._exit(0)\n',
        (
            "tests/resilience/test_rolling.py::test_no_client_behind_a_load_balancer_notices_a_restart",
            f"{_ENDING}::test_no_accepted_or_queued_request_is_lost",
        ),
    ),
    Mutant(
        "uvicorn closes connections whose request it has not read",
        "server/serve.py",
        "        connections = cast(",
        "        return await super().shutdown(sockets)\n        connections = cast(",
        (
            f"{_DRAINING}::test_request_that_arrives_with_the_signal_is_answered",
            f"{_DRAINING}::test_an_incomplete_request_is_waited_for",
            f"{_DRAINING}::test_unfinished_requests_are_aborted_and_counted",
        ),
    ),
    Mutant(
        "a connection is closed although its socket has unread data",
        "server/draining.py",
        "        del by_descriptor[descriptor]\n",
        "        pass\n",
        (f"{_DRAINING}::test_request_that_arrives_as_its_connection_becomes_idle_is_answered",),
    ),
    Mutant(
        "background tasks are lost when the process exits",
        "server/app.py",
        "    await state.background_tasks.finish()\n",
        "",
        (f"{_CAME_IN}::{_BEHIND_THE_ANSWER}",),
    ),
    Mutant(
        "the last counts of key usage are lost when the process exits",
        "server/app.py",
        "    await usage.write_remaining(state)\n",
        "",
        (f"{_USAGE}::test_remaining_counts_are_written_at_shutdown",),
    ),
)
