"""Mutants of e-mail that is sent: bounces, acknowledgements, retries and leases."""

from tests.mutants.mutant import Mutant

_BOUNCES = "tests/mail/sending/test_bounces.py"
_ACKNOWLEDGING = "tests/mail/sending/test_acknowledging.py"
_LOOPS = "tests/mail/sending/test_loops.py"
_FAULTS = "tests/mail/sending/test_faults.py"
_KILLING = "tests/mail/sending/test_killing.py"
_WHOLE = f"{_FAULTS}::test_what_concerns_the_whole_mailbox_uses_up_no_attempt"
_MERGING = "tests/mail/sending/test_merging.py"
_ROOM = "mail/sending"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a Message-ID can be computed from the address",
        f"{_ROOM}/queueing.py",
        "rules.message_id(reply.id, each.token, mailbox.address)",
        "rules.message_id(reply.id, each.address_identity, mailbox.address)",
        (f"{_BOUNCES}::test_forged_reports_have_no_effect",),
    ),
    Mutant(
        "a person can send a report",
        "mail/receiving/bounces.py",
        "or incoming.envelope_sender:",
        "or False:",
        (f"{_BOUNCES}::test_forged_reports_have_no_effect",),
    ),
    Mutant(
        "each report about a message writes a note",
        f"{_ROOM}/results/store.py",
        " AND state IN ('queued', 'sent')\n",
        "\n",
        (f"{_BOUNCES}::test_reports_about_one_message_have_one_effect",),
    ),
    Mutant(
        "a message that came back is sent again",
        f"{_ROOM}/results/store.py",
        "reason = :reason, due_at = NULL, leased_until = NULL,\n",
        "reason = :reason,\n",
        (f"{_BOUNCES}::test_a_message_that_came_back_is_not_sent_again",),
    ),
    Mutant(
        "an acknowledgement answers programs",
        "mail/receiving/rules.py",
        "automatic_reason(incoming) is None and message.delivery_status is None",
        "True",
        (f"{_ACKNOWLEDGING}::test_programs_and_forgeries_are_not_answered",),
    ),
    Mutant(
        "an acknowledgement answers forged senders",
        "mail/receiving/rules.py",
        " and is_of_person and not has_failed\n",
        " and is_of_person\n",
        (f"{_ACKNOWLEDGING}::test_programs_and_forgeries_are_not_answered",),
    ),
    Mutant(
        "each ticket of an address is acknowledged",
        f"{_ROOM}/rules.py",
        "    return not is_recent and len(sent_at) < MAX_ACKNOWLEDGED\n",
        "    return True\n",
        (f"{_ACKNOWLEDGING}::test_an_address_gets_one_in_an_hour",),
    ),
    Mutant(
        "an acknowledgement does not say that it is automatic",
        f"{_ROOM}/contents.py",
        'is_automatic=message.kind == "acknowledgement",',
        "is_automatic=False,",
        (f"{_ACKNOWLEDGING}::test_a_new_ticket_is_acknowledged_once",),
    ),
    Mutant(
        "replies of one sender have no limit",
        "mail/receiving/actions.py",
        "    if await store.count_replies(tx, tenant_id, identity, since_us, limit) >= limit:\n",
        "    if False:\n",
        (f"{_LOOPS}::test_replies_of_one_sender_are_held_past_a_limit",),
    ),
    Mutant(
        "replies to one ticket have no limit",
        "mail/receiving/actions.py",
        "await store.count_replies_to(tx, tenant_id, ticket_id, since_us, limit) >= limit:",
        "False:",
        (f"{_LOOPS}::test_messages_to_one_ticket_are_held_past_a_limit",),
    ),
    Mutant(
        "a full account fails the message",
        f"{_ROOM}/rules.py",
        "    if code in _FULL and not _TOO_LARGE.search(answer):\n",
        "    if False:\n",
        (_WHOLE,),
    ),
    Mutant(
        "hanging servers of one tenant take all connections",
        f"{_ROOM}/deliverer.py",
        "_MAX_TURNS, _MAX_FAILING, _MAX_OF_TENANT = 50, 15, 5",
        "_MAX_TURNS, _MAX_FAILING, _MAX_OF_TENANT = 50, 15, 50",
        (f"{_FAULTS}::test_hanging_servers_of_others_delay_nobody",),
    ),
    Mutant(
        "a server that disappears is tried with the same message first",
        f"{_ROOM}/turns.py",
        '_OF_MESSAGE: tuple[ProblemCode, ...] = ("timed_out", "closed", "unexpected_answer")',
        "_OF_MESSAGE: tuple[ProblemCode, ...] = ()",
        (f"{_FAULTS}::test_a_message_at_which_the_server_disappears_delays_no_other",),
    ),
    Mutant(
        "each reply opens a connection",
        f"{_ROOM}/turns.py",
        "_LINGER_S = 10.0",
        "_LINGER_S = 0.0",
        (f"{_FAULTS}::test_replies_of_a_mailbox_go_on_one_connection",),
    ),
    Mutant(
        "the next message is sent before the one before it is noted",
        f"{_ROOM}/turns.py",
        "            if self._storing:\n                # So",
        "            if False:\n                # So",
        (f"{_KILLING}::test_what_a_killed_process_has_left_is_sent_by_the_next_one",),
    ),
    Mutant(
        "an undone merge keeps the participants",
        "tickets/merging/actions.py",
        "    await store.take_participants_back(\n",
        "    await store.copy_participants(\n",
        (f"{_MERGING}::test_an_undone_merge_takes_the_participants_back",),
    ),
)
