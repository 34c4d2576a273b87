"""Mutants of `http_client`."""

from tests.mutants.mutant import Mutant

_HTTP_CLIENT = "tests/http_client"
_NO_PACKET = "test_no_packet_goes_to_a_forbidden_address_whatever_a_name_server_says"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a name is checked, and then connected to by name",
        "http_client/connector.py",
        "        str(address),\n",
        "        destination.name,\n",
        (f"{_HTTP_CLIENT}/test_rebinding.py::{_NO_PACKET}",),
    ),
    Mutant(
        "one public address of a name is enough",
        "http_client/resolver.py",
        "        if not all(is_permitted(",
        "        if not any(is_permitted(",
        (
            f"{_HTTP_CLIENT}/test_resolver.py::test_a_name_is_resolved_and_checked_again_after_the_cache_expires",
            f"{_HTTP_CLIENT}/test_rebinding.py::{_NO_PACKET}",
        ),
    ),
    Mutant(
        "the deny list is Python's is_global",
        "http_client/addresses.py",
        "    if not any(address in network for network in _DENIED):\n",
        "    if address.is_global:\n",
        (
            f"{_HTTP_CLIENT}/test_urls.py::test_every_url_of_the_corpus_has_its_verdict",
            f"{_HTTP_CLIENT}/test_rebinding.py::{_NO_PACKET}",
        ),
    ),
    Mutant(
        "a setting permits metadata services",
        "http_client/addresses.py",
        "    if any(address in network for network in _ALWAYS_DENIED):\n",
        "    if any(address in network for network in _ALWAYS_DENIED if not allowed):\n",
        (f"{_HTTP_CLIENT}/test_urls.py::test_no_setting_permits_a_metadata_service",),
    ),
    Mutant(
        "response bodies have no limit",
        "http_client/connection.py",
        "        self._bytes_left = MAX_BODY_BYTES\n",
        "        self._bytes_left = 2**28\n",
        (
            f"{_HTTP_CLIENT}/test_hostile.py::"
            "test_hostile_receivers_cost_little_memory_and_delay_no_other_request",
        ),
    ),
    Mutant(
        "response headers have no limit",
        "http_client/connection.py",
        "        self._bytes_left = MAX_HEAD_BYTES\n",
        "        self._bytes_left = 2**40\n",
        (f"{_HTTP_CLIENT}/test_hostile.py::test_a_hostile_response_is_limited",),
    ),
    Mutant(
        "a certificate for another name is accepted",
        "http_client/connector.py",
        "    context = ssl.create_default_context()\n",
        "    context = ssl.create_default_context()\n    context.check_hostname = False\n",
        (f"{_HTTP_CLIENT}/test_requests.py::test_an_invalid_certificate_receives_no_request",),
    ),
    Mutant(
        "a response has no timeout",
        "http_client/client.py",
        "            async with asyncio.timeout_at(deadline):\n",
        "            async with asyncio.timeout_at(deadline + 600):\n",
        (f"{_HTTP_CLIENT}/test_requests.py::test_a_missing_response_times_out",),
    ),
    Mutant(
        "a request with a partial response is retried",
        "http_client/client.py",
        '                if error.cause != "bad_answer" or idle[1].has_received:\n',
        '                if error.cause != "bad_answer":\n',
        (
            f"{_HTTP_CLIENT}/test_requests.py::test_a_request_with_a_partial_response_is_not_retried",
        ),
    ),
    Mutant(
        "headers are sent unchecked",
        "http_client/client.py",
        "        if not is_valid or name.lower() in _RESERVED_HEADERS:\n",
        "        if not is_valid and name.lower() in _RESERVED_HEADERS:\n",
        (f"{_HTTP_CLIENT}/test_requests.py::test_a_header_cannot_inject_another",),
    ),
    Mutant(
        "lookups that hang use all threads",
        "http_client/resolver.py",
        "self._slow_slots if host in self._slow else self._slots:",
        "self._slots:",
        (f"{_HTTP_CLIENT}/test_resolver.py::test_slow_names_do_not_delay_other_names",),
    ),
)
