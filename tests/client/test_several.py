"""Bulk requests, included data, followers and upserts through the Python client."""

import pytest

from sealdesk.client import Desk
from sealdesk.client.error_codes import VersionMismatch
from sealdesk.client.errors import NotFound
from sealdesk.client.operations import change_tickets, list_tickets
from sealdesk.client.parameters import NewTicket
from tests.support.service import wait_until

TICKET: NewTicket = {
    "subject": "Broken bowl",
    "description": "It has a crack.",
    "customer": {"email": "maria@example.test", "name": "Maria"},
    "custom_fields": {"carrier": "DHL"},
}


def test_several_tickets_are_created_and_changed_each_with_its_result(desk: Desk) -> None:
    created = desk.tickets.bulk_create([TICKET, {**TICKET, "subject": ""}, TICKET])
    assert (created.item_count, created.refused_count) == (3, 1)
    first, refused, last = created.data
    assert refused.problem is not None
    assert (refused.status, refused.problem["code"]) == (422, "validation_failed")
    assert first.data is not None and last.data is not None
    changed = desk.tickets.bulk_update(
        [
            {"id": first.data.id, "status": "pending"},
            {"id": last.data.id, "status": "pending", "if_match": '"0.0"'},
        ]
    )
    assert [each.status for each in changed.data] == [200, 412]


def test_a_result_behind_the_bound_of_a_response_has_no_ticket(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = [desk.tickets.create(**TICKET) for _ in range(2)]
    monkeypatch.setattr("sealdesk.tickets.bulk.api._MAX_SHOWN_BYTES", 1200)
    changed = desk.tickets.bulk_update([{"id": each.id, "status": "pending"} for each in opened])
    first, second = changed.data
    assert first.data is not None
    assert (second.status, second.data, second.problem) == (200, None, None)
    assert desk.tickets.get(opened[1].id).status == "pending" and second.etag == first.etag


def test_changes_with_an_etag_are_not_repeated() -> None:
    assert change_tickets([{"id": "i"}]).is_repeatable
    assert not change_tickets([{"id": "i"}, {"id": "j", "if_match": "e"}]).is_repeatable


def test_custom_fields_are_parameters_of_their_own() -> None:
    fields = {"custom_field": ["carrier:DHL, fast", "weight:2"]}
    target = list_tickets(fields).page(None).target
    assert target.endswith("&custom_field=carrier%3ADHL%2C%20fast&custom_field=weight%3A2")


def test_tickets_are_found_by_values_of_custom_fields(desk: Desk) -> None:
    fields = {"carrier": "DHL, fast", "weight": 2}
    wanted = desk.tickets.create(**TICKET | {"custom_fields": fields})
    desk.tickets.create(**TICKET | {"custom_fields": {"carrier": "DHL", "weight": 2}})
    both = ["carrier:DHL, fast", "weight:2"]
    wait_until(lambda: [each.id for each in desk.tickets.list(custom_field=both)] == [wanted.id])


ODD_TAGS = (
    "a,b", "c++", "50%", "%41", "R&D", "#1", "a/b", "a=b", "it's", "ü b", "日本", "👩\u200d🚀",
    "none", "*",
)  # fmt: skip


def test_tickets_are_found_by_tags_of_any_spelling(desk: Desk) -> None:
    opened = {tag: desk.tickets.create(**TICKET | {"tags": [tag, "odd"]}).id for tag in ODD_TAGS}
    found = {tag: [each.id for each in desk.tickets.list(tag=[tag, "odd"])] for tag in ODD_TAGS}
    assert found == {tag: [ticket_id] for tag, ticket_id in opened.items()}


def test_a_ticket_includes_its_customer_and_replies(desk: Desk) -> None:
    ticket = desk.tickets.create(**TICKET)
    reply = desk.replies.create(ticket.id, body="We send a new one.")
    listed = desk.tickets.list(include=["customer", "replies"]).first()
    got = desk.tickets.get(ticket.id, include=["customer", "replies"])
    assert listed is not None
    for included in (listed.included, got.included):
        assert included is not None and included.customer is not None and included.replies
        assert included.customer.email == "maria@example.test"
        assert [each.id for each in included.replies.data] == [reply.id]


def test_a_user_is_added_to_the_followers_and_removed(desk: Desk) -> None:
    ticket = desk.tickets.create(**TICKET)
    agent = desk.agents().first()
    assert agent is not None
    assert desk.followers.add(ticket.id, agent.id).name == agent.name
    assert [each.id for each in desk.followers.list(ticket.id)] == [agent.id]
    desk.followers.remove(ticket.id, agent.id)
    assert list(desk.followers.list(ticket.id)) == []


def test_tickets_are_linked_and_the_link_is_removed(desk: Desk) -> None:
    one, other = (desk.tickets.create(**TICKET) for _ in range(2))
    assert desk.links.add(one.id, "blocks", other.id).number == other.number
    assert [each.relation for each in desk.links.list(other.id)] == ["blocked_by"]
    desk.links.remove(one.id, other.id)
    assert list(desk.links.list(one.id)) == []


def test_a_customer_is_upserted_and_found(desk: Desk) -> None:
    made = desk.customers.upsert("shop/7 ü", email="bo@example.test", name="Bo")
    changed = desk.customers.upsert("shop/7 ü", email="bo@example.test", name="Bodil")
    assert (changed.id, changed.name) == (made.id, "Bodil")
    assert list(desk.customers.list(q="no such customer")) == []
    with pytest.raises(VersionMismatch):
        desk.customers.delete(made.id, if_match=f'"{made.version}"')
    desk.customers.delete(made.id, if_match=f'"{changed.version}"')
    with pytest.raises(NotFound):
        desk.customers.get(made.id)
