"""The pages that merge and split tickets."""

from typing import Any

from tests.support.client import Key
from tests.support.pages import Visitor
from tests.support.searching import wait_until_tickets
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"


def at(ticket: dict[str, Any], behind: str = "") -> str:
    return f"/tickets/{ticket['id']}{behind}"


def read(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = key.get(f"{TICKETS}/{ticket['id']}").json()["data"]
    return shown


def reply(key: Key, ticket: dict[str, Any], **fields: Any) -> str:
    return str(key.post(f"{TICKETS}/{ticket['id']}/replies", fields).json()["data"]["id"])


def test_a_ticket_is_merged_after_both_were_shown(key: Key, visitor: Visitor) -> None:
    source, target = key.ticket(subject="The copy"), key.ticket(subject="The original")
    page = visitor.get(at(source, f"/merge?into=%23{target['number']}"))
    assert "The copy" in page.text and "The original" in page.text
    assert read(key, source) == source
    page = visitor.submit(page.form(at(source, "/merge")))
    assert f"Ticket #{source['number']} was merged into this one." in page.text
    assert read(key, source)["merged_into_id"] == target["id"]


def test_the_address_of_a_merged_ticket_leads_to_the_other_one(key: Key, visitor: Visitor) -> None:
    source, target = key.ticket(), key.ticket()
    key.post(f"{TICKETS}/{source['id']}/merge", {"into": target["id"]})
    page = visitor.get(at(source))
    assert visitor.at.startswith(at(target))
    assert "Merged in" in page.text
    undo = page.form(at(source, "/unmerge"))
    visitor.submit(undo)
    assert visitor.at == at(source)
    assert read(key, source)["merged_into_id"] is None
    again = visitor.submit(undo)
    assert (again.status, "there is nothing to undo" in again.text) == (409, True)


def test_a_reply_to_a_ticket_that_was_merged_meanwhile_is_kept(key: Key, visitor: Visitor) -> None:
    source, target = key.ticket(), key.ticket()
    page = visitor.get(at(source))
    key.post(f"{TICKETS}/{source['id']}/merge", {"into": target["id"]})
    page = visitor.submit(page.form(at(source, "/reply")), body="Nearly sent")
    assert "This ticket was merged into another one" in page.text and "Nearly sent" in page.text
    assert at(target) in page.links


def test_each_public_reply_offers_to_begin_a_new_ticket(key: Key, visitor: Visitor) -> None:
    ticket = key.ticket(subject="Two matters")
    first = reply(key, ticket, body="And a second matter", author={"type": "customer"})
    reply(key, ticket, body="Only for us", is_internal=True)
    links = [link for link in visitor.get(at(ticket)).links if "/split?" in link]
    assert links == [at(ticket, f"/split?reply={first}")]
    page = visitor.get(links[0])
    visitor.submit(page.form(at(ticket, "/split")), subject="The second matter")
    assert "And a second matter" in visitor.get(visitor.at).text
    assert "And a second matter" not in visitor.get(at(ticket)).text


def test_a_merge_that_cannot_be_says_why(service: Service, key: Key, visitor: Visitor) -> None:
    source, closed = key.ticket(), key.ticket()
    key.patch(f"{TICKETS}/{closed['id']}", {"status": "closed"})
    foreign = service.tenant("Other").key()
    numbers = [foreign.ticket()["number"] for _ in range(3)]
    for into, message in {
        "x": "There is no ticket with this number.",
        str(numbers[-1]): "There is no ticket with this number.",
        "9" * 400: "There is no ticket with this number.",
        str(source["number"]): "These are the same ticket.",
        str(closed["number"]): "The other ticket is closed.",
    }.items():
        page = visitor.get(at(source, f"/merge?into={into}"))
        assert message in page.text
        assert page.form(at(source, "/merge")).method == "get"
        token = visitor.get(at(source, "/split")).form("/log-out").value("form_token")
        page = visitor.post(at(source, "/merge"), [("form_token", token), ("into", into)])
        assert message in page.text
    assert read(key, source) == source


def test_tickets_of_different_customers_are_pointed_out(key: Key, visitor: Visitor) -> None:
    source = key.ticket(customer={"email": "one@example.test"})
    same, other = (key.ticket(customer={"email": f"{n}@example.test"}) for n in ("one", "two"))
    pages = [visitor.get(at(source, f"/merge?into={each['number']}")) for each in (same, other)]
    assert ["different customers" in page.text for page in pages] == [False, True]


def test_a_ticket_is_split_at_a_public_reply(key: Key, visitor: Visitor) -> None:
    ticket = key.ticket()
    first = reply(key, ticket, body="Another matter", author={"type": "customer"})
    reply(key, ticket, body="moves along")
    last = reply(key, ticket, body="Answer to both")
    reply(key, ticket, body="stays here")
    page = visitor.get(at(ticket, f"/split?reply={first}"))
    assert "Another matter" in page.text
    form = page.form(at(ticket, "/split"))
    assert form.value("subject") == ticket["subject"]
    form = visitor.submit(form, subject=" ", last_reply_id=last).form(at(ticket, "/split"))
    assert form.value("last_reply_id") == last
    page = visitor.submit(form, subject="The other matter")
    assert all(text in page.text for text in ("The other matter", "moves along", "Answer to both"))
    assert "moves along" not in visitor.get(at(ticket)).text
    assert read(key, ticket)["reply_count"] == 1


def test_a_note_begins_no_ticket(key: Key, visitor: Visitor) -> None:
    ticket = key.ticket()
    note = reply(key, ticket, body="only for us", is_internal=True)
    page = visitor.get(at(ticket, f"/split?reply={note}"))
    assert "Choose a public reply" in page.text and "only for us" not in page.text


def test_open_tickets_of_the_customer_and_with_the_same_words_are_suggested(
    tenant: Tenant, key: Key, visitor: Visitor
) -> None:
    one, two = ({"email": f"{name}@suggested.test"} for name in ("one", "two"))
    source = key.ticket(customer=one, subject="Cracked sugar bowl")
    same = key.ticket(customer=one, subject="Where is my bowl?")
    words = key.ticket(customer=two, subject="Cracked sugar bowl, too")
    solved = key.ticket(customer=one, subject="Solved")
    key.patch(f"{TICKETS}/{solved['id']}", {"status": "resolved"})
    wait_until_tickets(tenant, "cracked", words["id"], source["id"])
    page = visitor.get(at(source, "/merge"))
    listed = [link for link in page.links if link in {at(each) for each in (same, words, solved)}]
    assert listed == [at(same), at(words)]
    assert at(source, f"/merge?into={words['number']}") in page.links
    assert "autofocus" in page.answer.text.partition(f'value="{same["number"]}"')[2][:12]
    (of_customer,) = [form for form in page.forms if form.action == at(source, "/merge")][1:]
    page = visitor.submit(of_customer, into=str(same["number"]))
    assert visitor.at.startswith(at(same)) and "was merged into this one" in page.text


def test_without_a_suggestion_the_number_has_the_focus(key: Key, visitor: Visitor) -> None:
    source = key.ticket(customer={"email": "alone@suggested.test"}, subject="Unlike all others")
    text = visitor.get(at(source, "/merge")).answer.text
    assert "autofocus" in text.partition('name="into"')[2].partition(">")[0]
    assert "Perhaps one of these" not in text
