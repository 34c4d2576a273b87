"""Mutants of the import of old messages."""

from tests.mutants.mutant import Mutant

_ROOM = "mail/importing"
_TESTS = "tests/mail/importing"
_IMPORTING = f"{_TESTS}/test_importing.py"
_MBOX = f"{_TESTS}/test_mbox.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "messages are imported in the order of the file",
        f"{_ROOM}/order.py",
        '        self._keys = array("Q", sorted(self._keys))\n',
        "        pass\n",
        (f"{_IMPORTING}::test_a_thread_has_the_times_and_the_order_of_its_messages",),
    ),
    Mutant(
        "webhooks tell of imported messages",
        "webhooks/delivery/fan_out.py",
        "        and not is_history(event.id, event.happened_at)\n",
        "",
        (f"{_IMPORTING}::test_an_import_is_in_the_feed_and_tells_nobody",),
    ),
    Mutant(
        "replays of webhooks tell of imported messages",
        "webhooks/store/fan_out.py",
        ' and not events.is_history(row["id"], row["created_at"])\n',
        "\n",
        (f"{_IMPORTING}::test_an_import_is_in_the_feed_and_tells_nobody",),
    ),
    Mutant(
        "imported replies are sent",
        "mail/sending/queueing.py",
        " or is_imported:\n",
        ":\n",
        (f"{_IMPORTING}::test_an_import_is_in_the_feed_and_tells_nobody",),
    ),
    Mutant(
        "imported messages count as new ones of their sender",
        "mail/receiving/rules.py",
        "        received_at=incoming.history.written_at if incoming.history else now_us,\n",
        "        received_at=now_us,\n",
        (f"{_IMPORTING}::test_many_old_messages_of_one_sender_are_not_held_nor_count_later",),
    ),
    Mutant(
        "what agents wrote is a note of a stranger",
        f"{_ROOM}/actions.py",
        "    if sender not in own and sender not in agents:\n",
        "    if sender not in own:\n",
        (f"{_IMPORTING}::test_what_the_desk_wrote_is_known_by_its_sender",),
    ),
    Mutant(
        "an old reply reopens its ticket",
        "tickets/rules.py",
        'importing.without_status(told, ticket.status) if from_mail == "history" else told\n',
        "told\n",
        (f"{_IMPORTING}::test_a_thread_has_the_times_and_the_order_of_its_messages",),
    ),
    Mutant(
        "one message that fails takes its batch with it",
        f"{_ROOM}/running.py",
        "            for each in ready:\n                await self._take_alone(each)\n",
        "            pass\n",
        (f"{_IMPORTING}::test_a_message_that_fails_is_named_and_stops_nothing",),
    ),
    Mutant(
        "a line of a text separates messages",
        f"{_ROOM}/mbox.py",
        "    if not (beginning.is_after_blank or is_field):\n        return None\n",
        "",
        (f"{_MBOX}::test_a_line_of_a_text_is_no_separator",),
    ),
    Mutant(
        "a separator at the end of a chunk is passed over",
        f"{_ROOM}/mbox.py",
        "len(window) - len(_SEPARATOR)) - 2)\n",
        "len(window)) - 2)\n",
        (f"{_MBOX}::test_separators_are_found_wherever_a_chunk_ends",),
    ),
    Mutant(
        "drafts are imported",
        f"{_ROOM}/maildir.py",
        '_LEFT_OUT = frozenset("DT")',
        '_LEFT_OUT = frozenset("T")',
        (
            f"{_TESTS}/test_maildir.py::"
            "test_drafts_and_messages_in_the_bin_are_left_out_and_counted",
        ),
    ),
)
