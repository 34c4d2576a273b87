"""Mutants of the form for customers, and of their pages of tickets."""

from tests.mutants.mutant import Mutant

_FORM = "tests/mail/contact_form/test_form.py"
_SETTINGS = "tests/mail/contact_form/test_settings.py"
_PAGE = "tests/mail/contact_form/test_customer_page.py"
_ROOM = "mail/contact_form"
_PAGES = "mail/customer_page"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "opening the link confirms the form",
        "routes/mail.py",
        "        contact_form.ask_confirmation,\n",
        "        contact_form.confirm,\n",
        (f"{_FORM}::test_a_confirmed_form_is_a_ticket_and_its_customer_gets_the_reply",),
    ),
    Mutant(
        "an address gets any number of confirmations",
        f"{_ROOM}/actions.py",
        "return await store.count_of_address(tx, tenant_id, identity, since_us, most) < most",
        "return since_us < now_us and most > 0",
        (f"{_FORM}::test_addresses_that_get_no_message_are_not_told_from_others",),
    ),
    Mutant(
        "a blocked sender gets a confirmation",
        f"{_ROOM}/actions.py",
        "    if await receiving.find_block(tx, tenant_id, patterns) is not None:\n"
        "        return False\n",
        "    del patterns\n",
        (f"{_FORM}::test_addresses_that_get_no_message_are_not_told_from_others",),
    ),
    Mutant(
        "a form can be confirmed after a day",
        f"{_ROOM}/actions.py",
        "if submission is None or submission.created_at + rules.WAITS_US <= now_us:",
        "if submission is None:",
        (f"{_FORM}::test_what_nobody_confirms_is_deleted_after_a_day",),
    ),
    Mutant(
        "messages of forms that nobody confirms stay",
        f"{_ROOM}/store.py",
        '            {"tenant_id": row["tenant_id"], "about_id": row["id"],'
        ' "address": row["address"]}\n',
        '            {"tenant_id": row["tenant_id"], "about_id": "", "address": row["address"]}\n',
        (f"{_FORM}::test_what_nobody_confirms_is_deleted_after_a_day",),
    ),
    Mutant(
        "a client may send any number of forms",
        f"{_ROOM}/guard.py",
        "    if state.accepted:\n",
        "    if state.limit:\n",
        (f"{_FORM}::test_a_client_that_sends_too_much_is_refused_and_others_are_not",),
    ),
    Mutant(
        "a form that is off is there",
        f"{_ROOM}/actions.py",
        "if form is None or not form.is_on:",
        "if form is None:",
        (f"{_FORM}::test_a_form_that_is_off_or_cannot_send_does_not_exist",),
    ),
    Mutant(
        "two desks have one name",
        f"{_ROOM}/actions.py",
        "if other is not None and other.tenant_id != tenant_id:",
        "if other is not None and other.tenant_id == wanted.path_name:",
        (f"{_SETTINGS}::test_wrong_settings_are_named",),
    ),
    Mutant(
        "the form shows all custom fields",
        f"{_ROOM}/pages.py",
        "[each for each in defined if each.key in form.fields]",
        "list(defined)",
        (f"{_SETTINGS}::test_the_form_has_the_chosen_custom_fields",),
    ),
    Mutant(
        "a customer's page shows internal notes",
        f"{_PAGES}/actions.py",
        "tx, tenant_id, ticket_id, page, is_internal=False, newest_first=True",
        "tx, tenant_id, ticket_id, page, is_internal=None, newest_first=True",
        (f"{_PAGE}::test_notes_and_other_peoples_secrets_are_not_on_the_page",),
    ),
    Mutant(
        "files of notes can be fetched",
        f"{_PAGES}/actions.py",
        "if reply is None or reply.is_internal:",
        "if reply is None:",
        (f"{_PAGE}::test_notes_and_other_peoples_secrets_are_not_on_the_page",),
    ),
    Mutant(
        "a page shows the links of others",
        f"{_ROOM}/ticket_links.py",
        '_LINK.sub("/ticket/…", text)',
        "text",
        (f"{_PAGE}::test_notes_and_other_peoples_secrets_are_not_on_the_page",),
    ),
    Mutant(
        "who joined later reads everything",
        f"{_PAGES}/rules.py",
        "return is_customer or written_at >= joined_at",
        "return is_customer or written_at >= 0 <= joined_at",
        (f"{_PAGE}::test_who_joined_later_reads_what_came_after",),
    ),
    Mutant(
        "the link of a closed ticket leads on",
        f"{_PAGES}/actions.py",
        'return ticket.status == "closed" or ticket.merged_into_id is not None',
        "return ticket.merged_into_id is not None",
        (f"{_PAGE}::test_a_customer_reads_answers_and_attaches_until_the_ticket_closes",),
    ),
    Mutant(
        "any participant's token opens the page",
        f"{_ROOM}/ticket_links.py",
        "        if hmac.compare_digest(_hash(each), opened.participant_hash):\n",
        "        if each.ticket_id == opened.ticket_id:\n",
        (f"{_PAGE}::test_who_joined_later_reads_what_came_after",),
    ),
    Mutant(
        "a form of another site writes a reply",
        f"{_ROOM}/guard.py",
        "            forms.check_site(request)\n        elif",
        "            pass\n        elif",
        (f"{_PAGE}::test_a_form_of_another_site_and_one_sent_twice_write_nothing",),
    ),
)
