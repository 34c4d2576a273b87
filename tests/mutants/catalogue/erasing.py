"""Mutants of erasing a customer."""

from tests.mutants.mutant import Mutant

_ROOM = "tickets/erasing"
_TESTS = "tests/tickets/erasing"
_PROOF = f"{_TESTS}/test_proof.py::test_no_column_of_any_table_has_anything_left"
_BYTES = (
    "tests/mail/test_erased_bytes.py::test_raw_messages_and_files_of_an_erased_customer_are_deleted"
)

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "erasing leaves the events",
        f"{_ROOM}/steps/actions.py",
        '    "events": logs.erase_events,\n',
        "",
        (_PROOF,),
    ),
    Mutant(
        "erasing leaves what merged tickets have brought",
        f"{_ROOM}/steps/conversations.py",
        "[*rows, *brought])\n",
        "[*rows])\n",
        (_PROOF,),
    ),
    Mutant(
        "erasing does not look for earlier addresses",
        f"{_ROOM}/steps/actions.py",
        "        texts=done.texts or erasure.texts,\n",
        "        texts=erasure.texts,\n",
        (_PROOF,),
    ),
    Mutant(
        "erasing takes the address that another customer has now",
        f"{_ROOM}/steps/earlier.py",
        "    return customer is None or customer.id == erasure.customer_id\n",
        "    return True\n",
        (
            f"{_TESTS}/test_erasing.py::"
            "test_an_earlier_address_that_somebody_else_has_now_is_theirs",
        ),
    ),
    Mutant(
        "erasing skips the rows of a step that ends in the middle of a ticket",
        f"{_ROOM}/steps/conversations.py",
        "if len(rows) == STEP_ROWS else last\n",
        "if False else last\n",
        (
            f"{_TESTS}/test_stopping.py::"
            "test_an_erasure_that_is_stopped_in_each_step_leaves_nothing",
        ),
    ),
    Mutant(
        "erasing keeps the raw messages until their time",
        f"{_ROOM}/steps/mail/actions.py",
        '            "raw_until": erasure.created_at,\n',
        '            "raw_until": erasure.created_at + 10**15,\n',
        (_BYTES,),
    ),
    Mutant(
        "erasing keeps the bytes of attachments",
        f"{_ROOM}/steps/store.py",
        "', ticket_id = NULL, reply_id = NULL\n",
        "'\n",
        (_BYTES,),
    ),
    Mutant(
        "erasing leaves forms that wait for their confirmation",
        f"{_ROOM}/steps/actions.py",
        '    "submissions": mail.erase_submissions,\n',
        "",
        (_PROOF,),
    ),
    Mutant(
        "erasing needs no recent password",
        "routes/table.py",
        '"/customers/{id}/erase", _REAUTHENTICATED,',
        '"/customers/{id}/erase", _ADMIN_PAGE,',
        (
            "tests/identity/test_reauthentication.py::"
            "test_every_lasting_change_needs_reauthentication",
        ),
    ),
)
