"""Mutants of `server`."""

from tests.mutants.mutant import Mutant

_ENDING = "tests/cli/test_ending.py"
_DRAINING = "tests/server/test_draining.py"
_CAME_IN = "tests/identity/test_log_in_audit.py"
_BEHIND_THE_ANSWER = "test_a_failure_is_recorded_after_the_response_and_before_the_process_ends"
_KEYS = "tests/api_keys"
_USAGE = f"{_KEYS}/test_usage.py"
_IN_FLIGHT = "tests/server/test_bytes_in_flight.py"
_HTTP = "tests/server/test_http_protocol.py"
_EXCHANGE = "tests/server/test_exchange.py"
_FRAMING = f"{_HTTP}::test_malformed_request_gets_400_and_the_connection_closes"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "the body of a request with Upgrade is not read",
        "server/request_parser.py",
        '        if self._parser.should_upgrade() and self.get_method() != b"CONNECT":\n',
        "        if False:\n",
        (f"{_HTTP}::test_upgrade_is_ignored_and_the_next_request_served",),
    ),
    Mutant(
        "a header of a response may contain a line break",
        "server/response_head.py",
        "    if len(lines) - len(lines.translate(None, _CONTROLS)) != separators_bytes:\n",
        "    if False:\n",
        (
            f"{_EXCHANGE}::test_a_control_character_in_a_header_is_a_500",
            f"{_EXCHANGE}::test_a_header_cannot_add_another_or_end_the_head",
        ),
    ),
    Mutant(
        "a response may be longer than it says",
        "server/exchange.py",
        "        if self._missing_bytes < 0 or (",
        "        if (",
        (f"{_EXCHANGE}::test_a_response_that_is_wrong_before_it_is_written_is_a_500",),
    ),
    Mutant(
        "a body that is cut off looks complete",
        "server/exchange.py",
        '    return chunk + b"0\\r\\n\\r\\n" if is_last else chunk\n',
        '    return chunk + b"0\\r\\n\\r\\n"\n',
        (f"{_EXCHANGE}::test_a_body_of_unknown_length_that_is_cut_off_has_no_last_chunk",),
    ),
    Mutant(
        "HTTP/1.0 gets chunks",
        "server/exchange.py",
        '        if self.scope["http_version"] != "1.0":\n',
        "        if True:\n",
        (f"{_EXCHANGE}::test_http_1_0_gets_no_chunks_and_the_connection_ends_with_the_body",),
    ),
    Mutant(
        "a connection without a request stays open for ever",
        "server/http_protocol.py",
        "        elif self.is_idle(KEEP_ALIVE_S):\n",
        "        elif False:\n",
        (f"{_EXCHANGE}::test_a_connection_without_a_request_is_closed_in_time",),
    ),
    Mutant(
        "a body that arrives later is taken for one that was there",
        "server/exchange.py",
        "            has_waited = True\n",
        "            has_waited = False\n",
        (
            f"{_EXCHANGE}::test_the_application_learns_whether_it_has_waited_for_the_body",
            "tests/api_keys/test_immediately.py::test_a_key_revoked_during_an_upload_is_refused",
        ),
    ),
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
    Mutant(
        "received bodies are not counted",
        "server/http_protocol.py",
        "        if self._body_bytes > UNCOUNTED_BYTES and",
        "        if False and",
        (f"{_IN_FLIGHT}::test_an_address_that_sends_too_much_at_a_time_gets_503",),
    ),
    Mutant(
        "one address may use the whole budget",
        "rate_limits/byte_budget.py",
        "_SHARES = 8",
        "_SHARES = 1",
        (
            f"{_IN_FLIGHT}::test_an_address_that_sends_too_much_at_a_time_gets_503",
            f"{_IN_FLIGHT}::test_a_tenant_that_does_not_read_gets_503_and_others_are_served",
        ),
    ),
    Mutant(
        "all addresses together may exceed the budget",
        "rate_limits/byte_budget.py",
        "return not (is_over_share or is_over_all)",
        "return not is_over_share",
        (f"{_IN_FLIGHT}::test_all_addresses_together_cannot_exceed_the_budget",),
    ),
    Mutant(
        "the body of a request that never starts counts for ever",
        "server/http_protocol.py",
        "        for waiting in self._pipeline:\n            self._received.release(waiting)\n",
        "",
        (f"{_IN_FLIGHT}::test_bodies_that_wait_behind_another_request_count_and_are_freed",),
    ),
    Mutant(
        "a body counts for ever",
        "server/exchange.py",
        "            release(self)\n",
        "            pass\n",
        (f"{_IN_FLIGHT}::test_a_body_counts_until_it_is_answered_or_its_client_is_gone",),
    ),
    Mutant(
        "a body that nobody reads stays in memory",
        "server/exchange.py",
        "        self.unread.clear()  # what",
        "        pass  # what",
        (f"{_IN_FLIGHT}::test_a_body_that_nobody_reads_is_dropped_with_the_answer",),
    ),
    Mutant(
        "unread responses are not counted",
        "web/large_responses.py",
        "    budget.add(owner, size)\n",
        "    budget.add(owner, size := 0)\n",
        (f"{_IN_FLIGHT}::test_a_tenant_that_does_not_read_gets_503_and_others_are_served",),
    ),
    Mutant(
        "a change is made although its response would be refused",
        "web/application.py",
        "    if request.method not in _READS:  # later",
        "    if False:  # later",
        (f"{_IN_FLIGHT}::test_a_change_is_refused_before_it_is_made_or_answered",),
    ),
    Mutant(
        "a change is made and its response refused",
        "web/application.py",
        "    if request.method in _READS and len",
        "    if len",
        (f"{_IN_FLIGHT}::test_a_change_is_refused_before_it_is_made_or_answered",),
    ),
    Mutant(
        "a client may leave a response unread for ever",
        "server/http_protocol.py",
        "> SEND_TIMEOUT_S:",
        "> float('inf'):",
        (f"{_IN_FLIGHT}::test_a_client_that_reads_nothing_for_too_long_is_disconnected",),
    ),
    Mutant(
        "a client that reads slowly is disconnected",
        "server/unsent.py",
        "        if unsent_bytes != self._unsent_bytes:",
        "        if not self._unsent_bytes:",
        (f"{_IN_FLIGHT}::test_only_a_client_that_takes_nothing_is_stalled",),
    ),
)
