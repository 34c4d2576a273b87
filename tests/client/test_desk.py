"""What a program sees of a desk: tickets, replies, customers, files and the feed."""

import asyncio
from itertools import islice
from typing import Any

import pytest

from sealdesk.client import AsyncDesk, Desk, InvalidConfiguration, error_codes
from sealdesk.client.errors import NotFound, PreconditionFailed
from sealdesk.client.parameters import NewTicket
from tests.support.client import Key

TICKET: NewTicket = {
    "subject": "Broken bowl",
    "description": "It has a crack.",
    "customer": {"email": "maria@example.test", "name": "Maria"},
}


def test_a_ticket_is_opened_read_changed_and_answered(desk: Desk) -> None:
    opened = desk.tickets.create(**TICKET | {"tags": ["refund", "Ünïcode"]})
    assert desk.tickets.get(opened.id) == opened
    changed = desk.tickets.update(opened.id, status="pending", external_id="a b/ü?#")
    assert (changed.status, changed.version) == ("pending", opened.version + 1)
    reply = desk.replies.create(opened.id, body="We send a new one.")
    note = desk.replies.create(opened.id, body="Second time.", is_internal=True)
    assert {each.id for each in desk.replies.list(opened.id)} == {reply.id, note.id}
    found = [each.id for each in desk.tickets.list(external_id="a b/ü?#", tag="Ünïcode")]
    assert found == [opened.id]


def test_a_ticket_is_merged_and_the_merge_undone(desk: Desk) -> None:
    opened, target = desk.tickets.create(**TICKET), desk.tickets.create(**TICKET)
    assert desk.tickets.merge(opened.id, into=target.id).id == target.id
    assert desk.tickets.undo_merge(opened.id).id == opened.id


def test_a_customer_is_merged_and_the_merge_undone(desk: Desk) -> None:
    one = desk.customers.create(email="one@merge.example")
    other = desk.customers.create(email="other@merge.example", other_phones=["7"])
    merged = desk.customers.merge(one.id, into=other.id)
    assert (merged.id, merged.other_emails) == (other.id, ("one@merge.example",))
    assert desk.customers.get(one.id).merged_into_id == other.id
    with pytest.raises(error_codes.CustomerMerged) as refused:
        desk.customers.update(one.id, name="N")
    assert refused.value.members["merged_into_id"] == other.id
    assert desk.customers.undo_merge(one.id).merged_into_id is None


def test_a_list_is_read_through_all_pages(desk: Desk) -> None:
    made = [desk.tickets.create(**TICKET).id for _ in range(5)]
    tickets = desk.tickets.list(status=["open", "pending"], per_page=2)
    assert [each.id for each in tickets] == made[::-1] == [each.id for each in tickets]
    tagged = desk.tickets.create(**TICKET | {"tags": ["a,b", "c"]})
    assert [each.id for each in desk.tickets.list(tag=["a,b", "c"])] == [tagged.id]
    desk.tickets.update(tagged.id, status="closed")
    assert [len(page.data) for page in tickets.pages()] == [2, 2, 1]
    first = tickets.first()
    assert first is not None
    assert first.id == made[-1]
    assert desk.tickets.search(f"{made[0]} status:closed").first() is None


def test_customers_and_files_are_reached(desk: Desk) -> None:
    customer = desk.customers.create(email="bo@example.test", name="Bo")
    assert desk.customers.update(customer.id, phone="+49 30 1").phone == "+49 30 1"
    assert [each.email for each in desk.customers.list(email="bo@example.test")] == [customer.email]
    desk.customers.delete(customer.id)
    assert [*desk.customers.list(email="bo@example.test")] == []
    file = desk.attachments.upload("crack ü.txt", b"a photo", "text/plain")
    ticket = desk.tickets.create(**TICKET | {"attachment_ids": [file.id]})
    assert ticket.attachments[0].name == "crack ü.txt"
    assert desk.attachments.download(file.id) == b"a photo"
    assert desk.attachments.get(file.id).ticket_id == ticket.id


def test_who_asks_and_whom_tickets_can_be_given_to(desk: Desk, key: Key) -> None:
    me = desk.whoami()
    assert me.key_id == key.id and me.skew_s in (0, 1)  # a second may begin on the way
    assert list(desk.agents())
    assert list(desk.teams()) == []


def test_a_report_counts_tickets(desk: Desk) -> None:
    report = desk.report(period="year", group_by="source")
    assert (report.figures.created, report.step, report.groups) == (0, "week", [])
    with pytest.raises(error_codes.InvalidParameter, match="cannot be combined"):
        desk.report(tag="a", source="api")


def test_a_feed_resumes_at_its_cursor(desk: Desk) -> None:
    types = ["ticket.created"]
    begin = desk.events.page(start="latest", types=types).resume_cursor
    first, second = (desk.tickets.create(**TICKET).id for _ in range(2))
    feed = desk.events.follow(cursor=begin, types=types)
    events = list(islice(feed, 1))
    assert feed.cursor == begin  # the page is not processed yet
    events += islice(desk.events.follow(cursor=feed.cursor, types=types), 1, 2)
    assert [event.data.object["id"] for event in events] == [first, second]


def test_a_refusal_is_the_exception_of_its_code(desk: Desk) -> None:
    with pytest.raises(NotFound) as missing:
        desk.tickets.get("0199c0df-7b10-7d52-9c11-2f6e5d4c3b2a")
    assert missing.value.request_id
    with pytest.raises(error_codes.ValidationFailed, match=r"/subject: .*required") as broken:
        desk.tickets.create(description="D", customer={"email": "a@example.test"})  # type: ignore[call-arg]
    assert (broken.value.status, broken.value.code) == (422, "validation_failed")
    with pytest.raises(InvalidConfiguration, match="did you mean 'status'"):
        desk.tickets.list(stauts="open")  # type: ignore[call-arg]
    with pytest.raises(InvalidConfiguration, match="did you mean 'priority'"):
        desk.tickets.create(**TICKET, prority="high")  # type: ignore[call-arg]
    with pytest.raises(InvalidConfiguration, match="customer: 'mail' is unknown"):
        desk.tickets.create(subject="S", description="D", customer={"mail": "a"})  # type: ignore[typeddict-unknown-key, typeddict-item]
    for nothing in ("", None):
        with pytest.raises(ValueError, match="an id cannot be"):
            desk.tickets.get(nothing)  # type: ignore[arg-type]


def test_the_headers_of_a_success_are_readable(desk: Desk) -> None:
    opened = desk.tickets.create(**TICKET)
    assert opened.response is not None
    assert opened.response.status == 201
    assert opened.response.request_id
    assert opened.response.rate_limit is not None
    assert opened.response.rate_limit.remaining > 0
    assert opened.response.warnings == ()
    assert opened.to_dict()["subject"] == "Broken bowl"
    changed = desk.tickets.update(opened.id, if_match=opened, status="pending")
    with pytest.raises(PreconditionFailed):
        desk.tickets.update(opened.id, if_match=opened, status="open")
    assert desk.tickets.get(opened.id).etag == changed.etag
    row = desk.tickets.list().first()
    with pytest.raises(InvalidConfiguration, match="get the one first"):
        desk.tickets.update(opened.id, if_match=row, status="open")


def test_what_was_got_is_edited_and_sent_back(desk: Desk) -> None:
    ticket = desk.tickets.create(**TICKET)
    edited: Any = {**ticket.to_dict(), "priority": "urgent"}
    assert desk.tickets.update(ticket.id, **edited).priority == "urgent"
    with pytest.raises(error_codes.ValidationFailed, match="/number: "):
        desk.tickets.update(ticket.id, **{**edited, "number": 0})
    (customer,) = desk.customers.list()
    renamed: Any = {**customer.to_dict(), "name": "Bo"}
    assert desk.customers.update(customer.id, **renamed).name == "Bo"


def test_the_asynchronous_desk_does_the_same(key: Key) -> None:
    async def work() -> list[str]:
        async with AsyncDesk(key.api_key, key.api_secret, key.service.url) as desk:
            types = ["reply.created"]
            begin = (await desk.events.page(start="latest", types=types)).resume_cursor
            made = await asyncio.gather(*(desk.tickets.create(**TICKET) for _ in range(3)))
            listed = [each.id async for each in desk.tickets.list(per_page=2)]
            assert set(listed) == {each.id for each in made}
            await desk.replies.create(listed[0], body="Hello")
            feed = desk.events.follow(cursor=begin, types=types)
            async for event in feed:
                return [event.type]
        return []

    assert asyncio.run(work()) == ["reply.created"]
