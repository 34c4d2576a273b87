"""The links of a ticket on its page, without scripts."""

from tests.support.client import Key
from tests.support.pages import Visitor

TICKETS = "/api/v1/external/tickets"


def test_a_ticket_is_linked_by_its_number_shown_beside_the_other_and_removed(
    key: Key, visitor: Visitor
) -> None:
    one, two = key.ticket(subject="The bowl"), key.ticket(subject="The glaze")
    at, there = f"/tickets/{one['id']}", f"/tickets/{two['id']}"
    assert f"{at}/links" in visitor.get(at).links
    form = visitor.get(f"{at}/links").form(f"{at}/links")
    page = visitor.submit(form, relation="blocked_by", ticket_id=f"#{two['number']}")
    assert visitor.at == at and there in page.links
    assert f"Is blocked by: none → {two['number']}" in page.text
    assert f"Blocks #{one['number']} The bowl" in visitor.get(there).text
    page = visitor.get(f"{at}/links")
    page = visitor.submit(page.form(f"{at}/links/{two['id']}/remove"))
    assert visitor.at == f"{at}/links" and there not in page.links


def test_a_link_that_cannot_be_says_why_and_keeps_what_was_typed(
    key: Key, visitor: Visitor
) -> None:
    one, two = key.ticket(), key.ticket()
    at = f"/tickets/{one['id']}/links"
    form = visitor.get(at).form(at)
    for typed, message in {
        "9" * 20: "There is no ticket with this number.",
        "bowl": "There is no ticket with this number.",
        str(one["number"]): "This is the ticket itself. Name another one.",
    }.items():
        page = visitor.submit(form, ticket_id=typed, relation="blocks")
        assert (page.status, page.form(at).value("ticket_id")) == (422, typed)
        assert message in page.text and page.form(at).value("relation") == "blocks"
    key.post(f"{TICKETS}/{two['id']}/links", {"relation": "blocks", "ticket_id": one["id"]})
    page = visitor.submit(form, ticket_id=str(two["number"]), relation="blocks")
    assert page.status == 409 and "These tickets are linked already" in page.text


def test_tickets_are_suggested_by_their_number_and_those_of_the_customer_at_first(
    key: Key, visitor: Visitor
) -> None:
    customer = {"email": "one@suggested.test"}
    one, two = (key.ticket(subject="Suggested", customer=customer) for _ in range(2))
    other = key.ticket(subject="Found by its number", customer={"email": "two@suggested.test"})
    at = f"/tickets/{one['id']}/links/suggestions"
    option = '<option value="{0[number]}">#{0[number]} {0[subject]}</option>'.format
    for query, shown in (("", two), (f"?q=%23{other['number']}", other)):
        found = visitor.get(f"{at}{query}").answer.text
        assert option(shown) in found and option(one) not in found
