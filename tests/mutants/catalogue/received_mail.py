"""Mutants of received e-mail: threads, effects, the receiver and its durability."""

from tests.mutants.mutant import Mutant

_TAKING = "tests/mail/receiving/test_taking.py"
_SESSION = "tests/mail/receiving/test_session.py"
_FORGING = "tests/mail/receiving/test_forging.py"
_KEEPING = "tests/mail/receiving/test_keeping.py"
_FAILURES = "tests/mail/receiving/test_failures.py"
_HELD = "tests/mail/received_messages/test_held.py"
_STRANGERS = "tests/mail/received_messages/test_strangers.py"
_PARTICIPANTS = "tests/mail/threads/test_participants.py"
_ROOM = "mail/receiving"
_HELD_ROOM = "mail/received_messages"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "whoever knows a token writes as its participant",
        f"{_ROOM}/actions.py",
        "            return Thread(found.ticket_id, sender)\n",
        "            return Thread(found.ticket_id, found)\n",
        (f"{_FORGING}::test_nobody_writes_into_a_foreign_ticket",),
    ),
    Mutant(
        "a token is found at any domain",
        f"{_ROOM}/rules.py",
        " and mailbox_identity(address) == identity\n",
        "\n",
        (f"{_FORGING}::test_nobody_writes_into_a_foreign_ticket",),
    ),
    Mutant(
        "automatic answers are public replies",
        f"{_ROOM}/actions.py",
        "    is_internal = rules.automatic_reason(incoming) is not None\n",
        "    is_internal = False\n",
        (f"{_TAKING}::test_an_automatic_answer_is_a_note_and_reopens_nothing",),
    ),
    Mutant(
        "a message that was taken is taken again",
        f"{_ROOM}/actions.py",
        "    if known is None or rules.is_same(known, new):\n        return None\n",
        "",
        (f"{_TAKING}::test_a_message_that_comes_twice_has_one_effect",),
    ),
    Mutant(
        "another message with a known Message-ID is lost",
        f"{_ROOM}/rules.py",
        "    return (known.from_identity, known.subject) == (new.from_identity, new.subject)\n",
        "    return True\n",
        (f"{_TAKING}::test_two_messages_with_the_same_message_id_are_both_taken",),
    ),
    Mutant(
        "any server's Authentication-Results are believed",
        f"{_ROOM}/rules.py",
        "        if names and names[0].lower() in authserv_ids and _FAILED_DMARC.search(rest):\n",
        "        if names and _FAILED_DMARC.search(rest):\n",
        (f"{_TAKING}::test_a_failing_dmarc_of_a_known_server_is_a_note",),
    ),
    Mutant(
        "a bare LF ends a message",
        f"{_ROOM}/data.py",
        '_END = b"\\r\\n.\\r\\n"\n',
        '_END = b"\\n.\\r\\n"\n',
        (f"{_SESSION}::test_only_the_right_end_ends_a_message",),
    ),
    Mutant(
        "what follows STARTTLS in the clear is run",
        f"{_ROOM}/session.py",
        "        if self._reader._buffer:\n",
        "        if False:\n",
        (f"{_SESSION}::test_nothing_may_follow_starttls_in_the_clear",),
    ),
    Mutant(
        "a message that cannot be stored is taken",
        f"{_ROOM}/handler.py",
        'extra={"mailbox": mailbox.id})\n            return _LATER\n',
        'extra={"mailbox": mailbox.id})\n            return _OK\n',
        (f"{_SESSION}::test_a_message_is_asked_for_again_while_the_database_takes_none",),
    ),
    Mutant(
        "a message with which we make a mistake is refused for ever",
        f"{_ROOM}/taking.py",
        "        return await _hold(state, mailbox, arrival)\n",
        "        raise\n",
        (f"{_FAILURES}::test_a_message_that_cannot_be_processed_waits_for_a_person",),
    ),
    Mutant(
        "a message is not held if its fields cannot be read",
        f"{_ROOM}/taking.py",
        "        return await _hold_now(state, incoming, now_us)\n",
        "        raise\n",
        (f"{_FAILURES}::test_a_message_whose_fields_cannot_be_read_waits_too",),
    ),
    Mutant(
        "a released message forgets its reply address",
        f"{_ROOM}/rules.py",
        "    return None if found == Envelope() else msgspec.json.encode(found).decode()\n",
        "    return None\n",
        (f"{_HELD}::test_a_message_to_a_reply_address_is_a_reply_after_its_release",),
    ),
    Mutant(
        "a released message gets an automatic answer",
        f"{_ROOM}/actions.py",
        "reason=effect.reason or RELEASED)",
        "reason=effect.reason)",
        (f"{_HELD}::test_a_released_message_becomes_a_ticket_once",),
    ),
    Mutant(
        "a message is released twice",
        f"{_ROOM}/types.py",
        '("held", "spam", "blocked")\n',
        '("held", "spam", "blocked", "ticket")\n',
        (f"{_HELD}::test_two_agents_who_release_a_message_make_one_ticket",),
    ),
    Mutant(
        "several outcomes are one after the other",
        f"{_HELD_ROOM}/store.py",
        "key=lambda message: message.id, reverse=True)",
        "key=lambda message: message.outcome, reverse=True)",
        (f"{_HELD}::test_a_list_of_several_outcomes_has_pages",),
    ),
    Mutant(
        "an expired message is released",
        f"{_HELD_ROOM}/actions.py",
        "message.raw_until is not None and message.raw_until > now_us",
        "message.raw_until is not None",
        (f"{_HELD}::test_an_expired_message_is_neither_released_nor_read",),
    ),
    Mutant(
        "a stranger is decided upon twice",
        f"{_HELD_ROOM}/actions.py",
        'if found.message.outcome != "note" or found.message.reason != effects.STRANGER:',
        'if found.message.outcome == "held":',
        (f"{_STRANGERS}::test_a_new_ticket_is_opened_of_it_once",),
    ),
    Mutant(
        "a participant who stays gets another reply address",
        "mail/threads/actions.py",
        "known if each.address_identity not in identities]",
        "known]",
        (
            f"{_PARTICIPANTS}::test_participants_are_set_and_those_who_stay_keep_their_reply_address",
        ),
    ),
    Mutant(
        "a mailbox of the desk becomes a participant",
        "mail/threads/actions.py",
        "if email_identity(rules.mailbox_address(each.email)) in addresses",
        "if email_identity(each.email) in addresses",
        (f"{_PARTICIPANTS}::test_wrong_participants_are_refused",),
    ),
    Mutant(
        "a raw message is deleted while it is kept",
        "tickets/attachments/store.py",
        "AND raw_sha256 = :sha256 AND raw_until > :now LIMIT 1",
        "AND raw_sha256 = :sha256 AND raw_until < :now LIMIT 1",
        (f"{_KEEPING}::test_a_raw_message_is_deleted_after_30_days",),
    ),
)
