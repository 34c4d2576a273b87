"""Who looks at a ticket and who writes, also on pages of other processes."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, cast

import pytest

from sealdesk import ids
from sealdesk.db.engine import Database
from sealdesk.errors import ServiceUnavailable
from sealdesk.event_log import presence
from sealdesk.event_log.presence import SharedPresence, Viewer
from sealdesk.state import AppState
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.live import LiveStream, live
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service, Tenant, wait_until


class Office:
    """A ticket that the administrator has open on one process; Eve works on another."""

    def __init__(self, nodes: list[Service]) -> None:
        self.tenant: Tenant = nodes[0].tenant()
        self.ticket_id: str = self.tenant.key().ticket()["id"]
        self.admin = logged_in(self.tenant)
        self.tenant.user("agent", "eve@example.test", "Eve")
        self.eve = Visitor(nodes[-1])
        self.eve.log_in("eve@example.test")
        self.query = f"?ticket={self.ticket_id}"
        self.at = f"/tickets/{self.ticket_id}/answering"

    def notice(self) -> str:
        """What the administrator's page says about others."""
        return self.admin.get(self.at).text

    def write(self, *, writing: str) -> None:
        """Eve's page says whether she has a draft."""
        token = self.eve.get(f"/tickets/{self.ticket_id}").form("/log-out").value("form_token")
        answer = self.eve.post(self.at, [("form_token", token), ("writing", writing)])
        assert answer.status == 200, answer.text


@pytest.fixture
def office(start_nodes: Callable[..., list[Service]]) -> Office:
    return Office(start_nodes())


@pytest.fixture
def page(office: Office) -> Iterator[LiveStream]:
    """The administrator's page, which knows that it is there itself."""
    with live(office.admin, office.query) as stream:
        stream.wait_for(lambda told: bool(told.of("presence")))
        yield stream


def told_of(page: LiveStream, office: Office, words: str, *, known: int) -> None:
    """Wait until the page is told that something changed, and then that its notice has words."""
    page.wait_for(lambda told: len(told.of("presence")) > known)
    wait_until(lambda: words in office.notice())
    assert {told["ticketId"] for told in page.of("presence")} == {office.ticket_id}


def test_a_viewer_at_another_process_is_named_until_the_page_is_closed(
    office: Office, page: LiveStream
) -> None:
    known = len(page.of("presence"))
    with live(office.eve, office.query):
        told_of(page, office, "Eve\u2069 is looking at this ticket.", known=known)
        known = len(page.of("presence"))
    page.wait_for(lambda told: len(told.of("presence")) > known)
    wait_until(lambda: "Eve" not in office.notice())


def test_a_draft_at_another_process_is_told_at_once(office: Office, page: LiveStream) -> None:
    known = len(page.of("presence"))
    office.write(writing="yes")
    told_of(page, office, "Eve\u2069 is replying to this ticket.", known=known)


@POSTGRESQL_ONLY
def test_a_process_that_ends_takes_its_viewers_with_it(
    start_nodes: Callable[..., list[Service]],
) -> None:
    here, there = start_nodes()
    office = Office([here, there])
    with live(office.admin, office.query), live(office.eve, office.query):
        wait_until(lambda: "Eve" in office.notice())
        there.stop()
        assert "Eve" not in office.notice()


def test_a_viewer_of_another_ticket_or_tenant_is_not_named(
    office: Office, page: LiveStream
) -> None:
    other_ticket = office.tenant.key().ticket()["id"]
    stranger = logged_in(office.tenant.service.tenant("Other"))
    with live(office.eve, f"?ticket={other_ticket}"), live(stranger):
        assert stranger.get(office.at).status == 404
        assert "Eve" not in office.notice()


def test_rows_of_a_process_that_was_killed_expire(service: Service, tenant: Tenant) -> None:
    topic, clock = ids.mint(service.clock.now_us()), service.clock

    async def store(state: AppState) -> None:
        killed = SharedPresence(state.database, clock)
        killed.enter(Viewer(tenant.id, topic, "u", "Eve"))
        await killed.exchange()

    service.in_serving(store)
    now_us = clock.now_us()

    def names_after(seconds: float) -> dict[str, str]:
        at_us = now_us + int(seconds * 1e6)
        return service.read(lambda tx: presence.list_viewers(tx, tenant.id, topic, at_us))

    assert names_after(40) == {"u": "Eve"}
    assert names_after(51) == {}


def test_viewers_of_a_tenant_without_a_free_connection_hold_up_no_others(service: Service) -> None:
    topic, clock = ids.mint(service.clock.now_us()), service.clock
    hindered, other = sorted((service.tenant(), service.tenant()), key=lambda each: each.id)

    class Full:
        """The database, of which one tenant has no free connection."""

        def __init__(self, database: Database) -> None:
            self.read = database.read
            self._write = database.write

        async def write(self, work: Any, tenant_id: str) -> Any:
            if tenant_id == hindered.id:
                raise ServiceUnavailable
            return await self._write(work, tenant_id)

    async def store(state: AppState) -> None:
        shared = SharedPresence(cast(Database, Full(state.database)), clock)
        for tenant in (hindered, other):
            shared.enter(Viewer(tenant.id, topic, "u", "Eve"))
        for _ in range(2):
            with suppress(ServiceUnavailable):
                await shared.exchange()

    service.in_serving(store)
    now_us = clock.now_us()

    def names_of(tenant: Tenant) -> dict[str, str]:
        return service.read(lambda tx: presence.list_viewers(tx, tenant.id, topic, now_us))

    assert (names_of(hindered), names_of(other)) == ({}, {"u": "Eve"})
