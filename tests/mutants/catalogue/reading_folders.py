"""Mutants of reading folders: what is taken, what is recognised, bounds and problems."""

from tests.mutants.mutant import Mutant

_READING = "tests/mail/reading/test_reading.py"
_PROBLEMS = "tests/mail/reading/test_problems.py"
_ROOM = "mail/reading"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "messages from before the mailbox are taken",
        f"{_ROOM}/rules.py",
        "    since = since_us(mailbox) // _SECOND_US * _SECOND_US",
        "    since = 0",
        (f"{_READING}::test_messages_from_before_the_mailbox_stay_in_the_folder",),
    ),
    Mutant(
        "the clock of the server decides alone",
        f"{_ROOM}/rules.py",
        " and listed.arrived_at < since and is_sent_before\n",
        " and listed.arrived_at < since\n",
        (f"{_READING}::test_messages_from_before_the_mailbox_stay_in_the_folder",),
    ),
    Mutant(
        "the position of another folder is kept",
        "mail/mailboxes/rules.py",
        "replace(after, uid_validity=None, last_uid=None, read_at=now_us)",
        "replace(after)",
        (f"{_READING}::test_another_folder_begins_with_its_new_messages",),
    ),
    Mutant(
        "a change of a mailbox keeps its lease",
        "mail/mailboxes/directory/store.py",
        "SET receives = :receives, leased_by = NULL, leased_until = NULL\n",
        "SET receives = :receives\n",
        (f"{_READING}::test_another_folder_begins_with_its_new_messages",),
    ),
    Mutant(
        "a message is fetched whatever its size",
        f"{_ROOM}/folder.py",
        "        if size_bytes <= most:\n",
        "        if size_bytes >= 0:\n            most = 2**31\n",
        (f"{_READING}::test_a_message_that_is_too_large_becomes_a_ticket_that_says_so",),
    ),
    Mutant(
        "a literal of any length is read",
        "mail/imap/commands.py",
        "            if size > most_bytes or len(literals) == _MAX_LITERALS:\n",
        "            if False:\n",
        (f"{_PROBLEMS}::test_a_server_that_sends_without_end_is_left",),
    ),
    Mutant(
        "a server may be silent within a message",
        "mail/imap/commands.py",
        "    return min(deadline, asyncio.get_running_loop().time() + SILENCE_S)\n",
        "    return deadline\n",
        (f"{_PROBLEMS}::test_a_server_that_hangs_is_shown_and_keeps_nobody_waiting",),
    ),
    Mutant(
        "a single lost connection is a problem",
        f"{_ROOM}/reader.py",
        "        if self._failure_count > 1 or",
        "        if self._failure_count > 0 or",
        (f"{_PROBLEMS}::test_a_single_lost_connection_is_no_problem",),
    ),
    Mutant(
        "a problem stays when the folder is read again",
        f"{_ROOM}/reader.py",
        "            await self._set_problem(mailbox, None)\n",
        "            pass\n",
        (f"{_PROBLEMS}::test_a_full_account_is_shown_and_heals",),
    ),
)
