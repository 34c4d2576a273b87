"""The stream of an open page: what it tells, to whom, and when it ends."""

from collections.abc import Callable
from typing import Any

import pytest

from sealdesk.event_log import stream as streams_stream
from sealdesk.event_log import streams
from tests.support.client import Key
from tests.support.connection import Connection
from tests.support.for_each import for_each
from tests.support.live import live
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service, Tenant, wait_until

NOWHERE = "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHECK_EVERY_S", 0.2)


def colleague(tenant: Tenant, name: str) -> tuple[Visitor, str]:
    """A browser with the log-in of an agent, and the id of the agent."""
    email = f"{name.lower()}.of.{tenant.id}@example.test"
    user_id = tenant.user("agent", email, name)
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    return visitor, user_id


def reply(key: Key, ticket_id: str, **fields: Any) -> None:
    answer = key.post(
        f"/api/v1/external/tickets/{ticket_id}/replies", {"body": "A reply", **fields}
    )
    assert answer.status_code == 201


def status(visitor: Visitor, query: str = "") -> int:
    """The status of a request for a stream that is refused."""
    return visitor.once("GET", f"/live{query}").status_code


def change(visitor: Visitor, ticket_id: str, **fields: str) -> None:
    at = f"/tickets/{ticket_id}"
    visitor.submit(visitor.get(at).form(at), **fields)


def test_a_page_is_told_of_a_new_ticket(visitor: Visitor, key: Key) -> None:
    with live(visitor) as stream:
        ticket = key.ticket(subject="Cracked bowls", customer={"email": "maria@example.test"})
        (message,) = stream.tickets(1)
    assert message == {
        "type": "ticket.created",
        "ticketId": ticket["id"],
        "number": ticket["number"],
        "position": message["position"],
        "by": {"kind": "customer", "id": ticket["customer"]["id"]},
    }
    (event,) = [event for event in stream.events if event.kind == "ticket"]
    assert int(event.id) == message["position"]


def test_a_page_is_told_who_changed_a_ticket_and_who_replied(tenant: Tenant, key: Key) -> None:
    ada, ada_id = colleague(tenant, "Ada")
    ticket = key.ticket()
    tenant.service.settle()
    with live(ada) as stream:
        change(ada, ticket["id"], status="pending")
        reply(key, ticket["id"], author={"type": "customer"})
        wait_until(lambda: len(stream.of("ticket")) >= 3)
        changed, replied, reopened = stream.of("ticket")
    assert (changed["type"], changed["by"]) == ("ticket.updated", {"kind": "user", "id": ada_id})
    customer = {"kind": "customer", "id": ticket["customer"]["id"]}
    assert (replied["type"], replied["by"]) == ("reply.created", customer)
    assert (reopened["type"], reopened["by"]) == (
        "ticket.updated",
        {"kind": "api_key", "id": key.id},
    )
    assert {message["number"] for message in stream.of("ticket")} == {ticket["number"]}


def test_a_message_has_no_text_of_the_ticket(visitor: Visitor, key: Key) -> None:
    with live(visitor) as stream:
        ticket = key.ticket(subject="Very secret", description="Very secret")
        reply(key, ticket["id"], body="Very secret")
        stream.tickets(2)
    assert "secret" not in str(stream.events) and "@" not in str(stream.events)


def test_another_tenant_is_told_nothing(service: Service, visitor: Visitor, key: Key) -> None:
    other = service.tenant("Other")
    with live(logged_in(other)) as theirs, live(visitor) as ours:
        key.ticket()
        ours.tickets(1)
        own = other.key().ticket()
        assert [message["ticketId"] for message in theirs.tickets(1)] == [own["id"]]
    assert len(ours.of("ticket")) == 1


def test_a_stream_goes_on_behind_the_last_event_that_it_knows(visitor: Visitor, key: Key) -> None:
    with live(visitor) as stream:
        tickets = [key.ticket() for _ in range(3)]
        stream.tickets(3)
    known = stream.of("ticket")[0]["position"]
    for how in ({"last_event_id": str(known)}, {"query": f"?after={known}"}):
        with live(visitor, **how) as again:
            told = [message["ticketId"] for message in again.tickets(2)]
        assert told == [ticket["id"] for ticket in tickets[1:]]
        assert again.of("hello")[0]["missed"] is False


def test_nothing_is_told_twice_when_a_page_joins_that_knows_less(
    visitor: Visitor, key: Key
) -> None:
    with live(visitor) as first:
        ids = [key.ticket()["id"] for _ in range(3)]
        position = first.tickets(3)[0]["position"]
        with live(visitor, last_event_id=str(position)) as second:
            second.tickets(2)
            ids.append(key.ticket()["id"])
            assert [each["ticketId"] for each in second.tickets(3)] == ids[1:]
            assert [each["ticketId"] for each in first.tickets(4)] == ids


@for_each("known", ["999999999999", "0", "-1", "x", "9" * 40, "1e3", ""])
def test_a_page_that_has_missed_too_much_is_told_so(
    visitor: Visitor, key: Key, known: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealdesk.tickets.live.rules.MAX_MISSED", 1)
    for _ in range(3):
        key.ticket()
    visitor.service.settle()
    with live(visitor, last_event_id=known) as stream:
        ticket = key.ticket()
        assert [message["ticketId"] for message in stream.tickets(1)] == [ticket["id"]]
    is_number = known.isdigit() and len(known) < 20
    assert stream.of("hello")[0]["missed"] is is_number


def test_logging_out_ends_the_streams_of_the_session_only(tenant: Tenant) -> None:
    visitor, other = logged_in(tenant), logged_in(tenant)
    with live(visitor) as ended, live(visitor) as ended_too, live(other) as lasting:
        before = dict(visitor.cookies)
        visitor.submit(visitor.get("/tickets").form("/log-out"))
        ended.wait_for_end()
        ended_too.wait_for_end()
        visitor.cookies = before
        assert status(visitor) == 401
        assert not lasting.is_over


def test_a_role_that_changes_ends_the_stream(tenant: Tenant) -> None:
    ada, ada_id = colleague(tenant, "Ada")
    with live(ada) as stream:
        tenant.service.run(f"UPDATE users SET role = 'admin' WHERE id = '{ada_id}'")
        stream.wait_for_end()


def test_a_deactivated_user_is_told_nothing_more(tenant: Tenant) -> None:
    ada, ada_id = colleague(tenant, "Ada")
    with live(ada) as stream:
        tenant.deactivate(ada_id)
        stream.wait_for_end()
    assert status(ada) == 401


def test_a_stream_without_a_session_is_refused(service: Service) -> None:
    assert status(Visitor(service)) == 401


def test_a_ticket_of_another_tenant_does_not_exist(service: Service, visitor: Visitor) -> None:
    theirs = service.tenant("Other").key().ticket()["id"]
    for ticket_id in (theirs, NOWHERE, "x"):
        assert status(visitor, f"?ticket={ticket_id}") == 404


def test_more_streams_than_a_user_may_have_are_refused(
    visitor: Visitor, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_STREAMS_OF_USER", 1)
    other, _ = colleague(tenant, "Ada")
    with live(visitor), live(other):
        refused = visitor.once("GET", "/live")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    wait_until(lambda: len(visitor.service.state.streams) == 0)
    with live(visitor):
        pass


def test_more_streams_than_a_tenant_may_have_are_refused(
    service: Service, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_STREAMS_OF_TENANT", 1)
    with live(visitor), live(logged_in(service.tenant("Other"))):
        assert status(visitor) == 429


def test_a_silent_stream_gets_a_heartbeat(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "BEAT_EVERY_S", 0.1)
    with live(visitor) as stream:
        stream.wait_for(lambda each: len(each.of("beat")) >= 2)


def test_a_proxy_is_told_not_to_buffer_and_no_cache_keeps_it(visitor: Visitor) -> None:
    with live(visitor) as stream:
        headers = stream.response.headers
    assert headers["x-accel-buffering"] == "no"
    assert headers["cache-control"] == "private, no-store"
    assert headers["content-type"] == "text/event-stream"


def test_a_head_request_ends(visitor: Visitor) -> None:
    assert visitor.once("HEAD", "/live").status_code == 200


def test_a_client_that_does_not_read_is_dropped_at_a_bound(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "BEAT_EVERY_S", 0.0)
    monkeypatch.setattr(streams, "_BEAT", b"event: beat\ndata: " + b"1" * 12_000 + b"\n\n")
    monkeypatch.setattr("sealdesk.server.http_protocol.SEND_TIMEOUT_S", 1.0)
    connection = Connection(visitor.service, receive_buffer=4096)
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    connection.send(f"GET /live HTTP/1.1\r\nhost: t\r\ncookie: {cookie}\r\n\r\n".encode())
    open_streams = visitor.service.state.streams
    wait_until(lambda: len(open_streams) > 0)
    stream = next(iter(open_streams._tenants[key_tenant(open_streams)].streams))
    wait_until(lambda: stream.is_over)
    assert len(stream._pending) <= streams_stream.MAX_PENDING_BYTES
    wait_until(lambda: len(open_streams) == 0)
    connection.close()


def key_tenant(open_streams: streams.Streams) -> str:
    (tenant_id,) = open_streams._tenants
    return tenant_id


def test_draining_ends_streams_at_once(start: Callable[..., Service]) -> None:
    service = start()
    tenant = service.tenant()
    visitor = logged_in(tenant)
    with live(visitor) as stream:
        assert not stream.is_over
        service.in_serving(_drain)
        stream.wait_for_end()
        # A whole response: the browser connects again instead of showing an error.
        assert stream.response.isclosed()


async def _drain(state: Any) -> None:
    for end in state.lifetime.on_drain:
        end()


def test_a_stream_counts_neither_as_slow_nor_as_a_long_response(visitor: Visitor) -> None:
    with live(visitor) as stream:
        stream.wait_for(lambda each: bool(each.of("hello")))
    durations = visitor.service.state.metrics.responses.durations
    recorded = durations["GET /live"]
    assert recorded.counts[-1] == 0
