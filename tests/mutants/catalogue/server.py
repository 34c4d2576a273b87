"""Mutants of `server`."""

from tests.mutants.mutant import Mutant

_ENDING = "tests/cli/test_ending.py"
_DRAINING = "tests/server/test_draining.py"
_CAME_IN = "tests/identity/test_log_in_audit.py"
_BEHIND_THE_ANSWER = "test_a_failure_is_recorded_after_the_response_and_before_the_process_ends"
_KEYS = "tests/api_keys"
_USAGE = f"{_KEYS}/test_usage.py"
_HTTP = "tests/server/test_http_protocol.py"
_FRAMING = f"{_HTTP}::test_malformed_request_gets_400_and_the_connection_closes"


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
    Mutant(
        "a request may have two hosts or none",
        "server/framing.py",
        'if names.count(b"host") != 1 and',
        "if False and",
        (_FRAMING,),
    ),
    Mutant(
        "a length may have any number of digits",
        "server/framing.py",
        "_LENGTH_DIGITS = 19",
        "_LENGTH_DIGITS = 99999",
        (_FRAMING,),
    ),
    Mutant(
        "a body may be sent in an unknown transfer coding",
        "server/framing.py",
        'return None if codings == [b"chunked"] else',
        "return None if True else",
        (f"{_HTTP}::test_a_transfer_coding_besides_chunked_gets_501_and_the_connection_closes",),
    ),
    Mutant(
        "a log-in may have 1 MiB",
        "web/operation.py",
        "int = MAX_SHORT_BODY_BYTES",
        "int = 1024 * 1024",
        (
            f"{_HTTP}::test_declared_body_over_8_kib_gets_413_before_it_is_sent",
            f"{_HTTP}::test_chunked_body_over_8_kib_gets_413_before_its_end",
        ),
    ),
)
