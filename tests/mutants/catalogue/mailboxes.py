"""Mutants of mailboxes and of blocked senders."""

from tests.mutants.mutant import Mutant

_MAILBOXES = "tests/mail/mailboxes/test_mailboxes.py"
_TESTS = "tests/mail/mailboxes/test_connection_test.py"
_FAULTS = f"{_TESTS}::test_each_fault_is_found_in_its_step"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a stored password goes to a new server",
        "mail/mailboxes/rules.py",
        "        and is_moved(before, after, protocol)\n",
        "        and is_moved(after, after, protocol)\n",
        (f"{_MAILBOXES}::test_a_password_is_never_sent_to_another_server",),
    ),
    Mutant(
        "a password opens in the column of the other protocol",
        "mail/mailboxes/rules.py",
        'f"mailbox_password {mailbox.tenant_id} {mailbox.id} {protocol}"',
        'f"mailbox_password {mailbox.tenant_id} {mailbox.id}"',
        (f"{_MAILBOXES}::test_passwords_are_sealed_for_one_column_of_one_row",),
    ),
    Mutant(
        "a log-in is sent without TLS",
        "mail/mailboxes/rules.py",
        'if mailbox.smtp_security == "none" and (mailbox.smtp_username or has_password):',
        "if False:",
        (f"{_MAILBOXES}::test_what_cannot_work_is_refused",),
    ),
    Mutant(
        "a deleted mailbox keeps its address",
        "mail/mailboxes/actions.py",
        "    await directory.release(tx, mailbox.address_identity, mailbox.id)\n    deleted",
        "    deleted",
        (f"{_MAILBOXES}::test_an_address_belongs_to_one_mailbox_of_the_installation",),
    ),
    Mutant(
        "a paused mailbox still receives",
        "mail/mailboxes/rules.py",
        'return "no" if mailbox.is_paused else mailbox.receives',
        "return mailbox.receives",
        (f"{_MAILBOXES}::test_a_paused_mailbox_receives_nothing",),
    ),
    Mutant(
        "an event for every failed attempt",
        "mail/mailboxes/rules.py",
        "    if before is not None and before.code == failure.code:\n",
        "    if before is not None and before.detail is failure:\n",
        (f"{_MAILBOXES}::test_a_problem_is_told_once_since_when_and_when_it_is_over",),
    ),
    Mutant(
        "the server's name is not compared with its certificate",
        "mail/connections.py",
        "    context.minimum_version = ssl.TLSVersion.TLSv1_2\n",
        "    context.check_hostname = False\n",
        (_FAULTS,),
    ),
    Mutant(
        "a refused log-in repeats the password",
        "mail/imap/session.py",
        'raise _refused(answer, "login_refused", password)',
        'raise _refused(answer, "login_refused")',
        (f"{_TESTS}::test_a_refused_password_is_not_repeated",),
    ),
    Mutant(
        "the test leaves its message behind",
        "mail/mailboxes/connection_test.py",
        "    await session.delete(uid, deadline)\n",
        "",
        (f"{_TESTS}::test_a_mailbox_that_works_sends_to_itself_and_sees_it_arrive",),
    ),
    Mutant(
        "mailboxes are tested without a limit",
        "mail/mailboxes/mailbox_service.py",
        "    await _charge(request)\n",
        "",
        (f"{_TESTS}::test_tests_of_a_tenant_are_limited",),
    ),
    Mutant(
        "only whole addresses are blocked",
        "mail/blocks/store.py",
        "    for pattern in (address_identity, domain):\n",
        "    for pattern in (address_identity,):\n",
        (f"{_MAILBOXES}::test_a_block_is_found_by_the_address_and_by_its_domain",),
    ),
)
