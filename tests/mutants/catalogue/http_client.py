"""Mutants of `http_client`."""

from tests.mutants.mutant import Mutant

_OUTBOUND = "tests/http_client"
_NO_PACKET = "test_not_one_packet_goes_to_a_forbidden_address_whatever_a_name_server_says"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a name is checked, and then connected to by name",
        "http_client/connector.py",
        "        str(address),\n",
        "        destination.name,\n",
        (f"{_OUTBOUND}/test_rebinding.py::{_NO_PACKET}",),
    ),
    Mutant(
        "one public address of a name is enough",
        "http_client/resolver.py",
        "        if not all(is_permitted(",
        "        if not any(is_permitted(",
        (
            f"{_OUTBOUND}/test_resolver.py::test_a_name_is_asked_for_again_and_judged_anew",
            f"{_OUTBOUND}/test_rebinding.py::{_NO_PACKET}",
        ),
    ),
    Mutant(
        "an address is public when Python says so",
        "http_client/addresses.py",
        "    if not any(address in network for network in _DENIED):\n",
        "    if address.is_global:\n",
        (
            f"{_OUTBOUND}/test_urls.py::test_every_url_of_the_corpus_is_judged_as_it_should_be",
            f"{_OUTBOUND}/test_rebinding.py::{_NO_PACKET}",
        ),
    ),
    Mutant(
        "a setting opens metadata services",
        "http_client/addresses.py",
        "    if any(address in network for network in _NEVER):\n",
        "    if any(address in network for network in _NEVER if not allowed):\n",
        (f"{_OUTBOUND}/test_urls.py::test_no_setting_opens_a_metadata_service",),
    ),
    Mutant(
        "bodies of answers are read to their end",
        "http_client/connection.py",
        "        self._room = MAX_BODY_BYTES\n",
        "        self._room = 2**28\n",
        (
            f"{_OUTBOUND}/test_hostile.py::"
            "test_hostile_receivers_take_no_memory_and_nobody_elses_time",
            f"{_OUTBOUND}/test_hostile.py::test_a_hostile_answer_is_bounded",
        ),
    ),
    Mutant(
        "heads of answers have no end",
        "http_client/connection.py",
        "        self._room = MAX_HEAD_BYTES\n",
        "        self._room = 2**40\n",
        (f"{_OUTBOUND}/test_hostile.py::test_a_hostile_answer_is_bounded",),
    ),
    Mutant(
        "certificates may be for another name",
        "http_client/connector.py",
        "    context = ssl.create_default_context()\n",
        "    context = ssl.create_default_context()\n    context.check_hostname = False\n",
        (f"{_OUTBOUND}/test_requests.py::test_a_certificate_that_does_not_hold_gets_nothing",),
    ),
    Mutant(
        "an answer is waited for however long it takes",
        "http_client/client.py",
        "            async with asyncio.timeout_at(until):\n",
        "            async with asyncio.timeout_at(until + 600):\n",
        (f"{_OUTBOUND}/test_requests.py::test_an_answer_that_does_not_come_is_not_waited_for",),
    ),
    Mutant(
        "what was answered in part is sent again",
        "http_client/client.py",
        '                if unsent.cause != "bad_answer" or kept[1].has_heard:\n',
        '                if unsent.cause != "bad_answer":\n',
        (f"{_OUTBOUND}/test_requests.py::test_what_was_answered_in_part_is_not_sent_again",),
    ),
    Mutant(
        "headers are sent as they were given",
        "http_client/client.py",
        "        if not is_sound or name.lower() in _OURS:\n",
        "        if not is_sound and name.lower() in _OURS:\n",
        (f"{_OUTBOUND}/test_requests.py::test_a_header_cannot_bring_another",),
    ),
    Mutant(
        "names that hang take the threads of all",
        "http_client/resolver.py",
        "self._slow_turn if host in self._slow else self._turn:",
        "self._turn:",
        (f"{_OUTBOUND}/test_resolver.py::test_names_that_were_slow_leave_room_for_the_others",),
    ),
)
