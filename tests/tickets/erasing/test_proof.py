"""Nothing that a customer has left anywhere is there after they were erased."""

from tests.tickets.erasing.filled import Desk

# Where the desk of the test has the customer before, so that the search below can fail.
_PLACES = {
    *("customers", "tickets", "replies", "ticket_changes", "attachments", "notifications"),
    *("events", "attempts", "idempotency", "refusals", "audit", "views"),
    *("search_documents", "customer_documents"),
    *("ticket_participants", "received_messages", "outgoing_messages", "form_submissions"),
}


def test_no_column_of_any_table_has_anything_left(desk: Desk) -> None:
    found = desk.found()
    assert set(found) >= _PLACES, _PLACES - {*found}
    assert "earlier email" in found["views"]
    desk.erase()
    desk.finish()
    assert desk.found() == {}
