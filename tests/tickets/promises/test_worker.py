"""The worker tells of each warning and each breach once, however it ends and however many it is."""

import asyncio
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sealdesk.db.engine import SerializationConflict, Tx
from sealdesk.state import AppState
from sealdesk.tickets.promises import keeping
from sealdesk.tickets.promises.steps import actions as steps
from sealdesk.tickets.promises.steps import store as steps_store
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.types import Ticket
from sealdesk.worker import stepper
from tests.support.pages import logged_in
from tests.support.plans import plan
from tests.support.service import Service, Tenant, wait_until
from tests.tickets.promises.test_promises import (
    POLICIES,
    TICKETS,
    made,
    opened,
    read,
    reply,
    told,
    wait_until_renewed,
)

UNTOLD = "SELECT id FROM tickets WHERE alert_at IS NOT NULL LIMIT 1000"
_DUE_RENEWALS = "SELECT tenant_id FROM sla_renewals WHERE stepped_at <= :now LIMIT 1"
_TICKETS = 60


def promised(service: Service) -> tuple[Tenant, list[str]]:
    """A desk with tickets that are warned of and late in an hour."""
    tenant = service.tenant()
    made(tenant.admin(), first_response_minutes=60, resolution_minutes=60, warning_minutes=5)
    return tenant, [opened(tenant.key())["id"] for _ in range(_TICKETS)]


def assert_each_is_told_once(service: Service, tenant: Tenant, ticket_ids: list[str]) -> None:
    wait_until(lambda: not service.rows(UNTOLD))
    service.settle()
    sql = "SELECT type, object, changes FROM events WHERE tenant_id = :id LIMIT 9999"
    rows = [row for row in service.rows(sql, id=tenant.id) if "sla" in row["type"]]
    kinds = ("ticket.sla_warning", "ticket.sla_breached")
    targets = ("first_response", "resolution")
    found = Counter(
        (row["type"], each, target)
        for row in rows
        for each in ticket_ids
        for target in targets
        if each.encode() in row["object"] and target in row["changes"]
    )
    wanted = [(kind, each, target) for kind in kinds for each in ticket_ids for target in targets]
    assert found == Counter(wanted)


def test_two_workers_at_once_tell_of_each_once(own_service: Service) -> None:
    tenant, ticket_ids = promised(own_service)

    async def work(state: AppState) -> None:
        state.clock.advance(3600)  # type: ignore[attr-defined]
        now_us = state.clock.now_us()

        async def take_steps() -> None:
            while await state.database.write(lambda tx: steps.run_step(tx, tenant.id, now_us)):
                pass

        await asyncio.gather(*(take_steps() for _ in range(3)))

    own_service.in_background(work)
    assert_each_is_told_once(own_service, tenant, ticket_ids)


def test_a_ticket_that_cannot_be_told_of_holds_up_no_other(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    made(tenant.admin(), first_response_minutes=60)
    key = tenant.key()
    first, second = opened(key)["id"], opened(key)["id"]
    announce = keeping.announce

    async def fail_for_first(tx: Tx, ticket: Ticket, *rest: Any) -> None:
        if ticket.id == first:
            raise RuntimeError("this ticket fails")
        await announce(tx, ticket, *rest)

    monkeypatch.setattr(keeping, "announce", fail_for_first)
    own_service.clock.advance(3600)
    wait_until(lambda: [each for _, each, _ in told(key)] == [second])
    monkeypatch.undo()
    own_service.clock.advance(60)
    wait_until(lambda: [each for _, each, _ in told(key)] == [second, first])


def test_a_renewal_that_fails_is_tried_again(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    ticket = opened(tenant.key())
    tries = []

    async def fail(*arguments: Any) -> None:
        tries.append(arguments)
        raise RuntimeError("the renewal fails")

    monkeypatch.setattr(keeping, "renew", fail)
    new = {"name": "Standard", "counts": "calendar", "first_response_minutes": 60}
    assert tenant.admin().post(POLICIES, new).status_code == 201
    now_us = own_service.clock.now_us()
    wait_until(lambda: bool(tries) and not own_service.rows(_DUE_RENEWALS, now=now_us))
    monkeypatch.undo()
    own_service.clock.advance(60)
    wait_until_renewed(own_service)
    assert read(tenant.key(), ticket)["due"]["first_response"]


def test_a_worker_that_is_stopped_within_steps_tells_of_each_once(own_service: Service) -> None:
    tenant, ticket_ids = promised(own_service)

    async def work(state: AppState) -> None:
        state.clock.advance(3600)  # type: ignore[attr-defined]
        for turns in range(40):
            step = asyncio.ensure_future(stepper.PROMISES.step(state))
            for _ in range(turns):
                await asyncio.sleep(0)
            step.cancel()
            with suppress(asyncio.CancelledError):
                await step

    own_service.in_background(work)
    assert_each_is_told_once(own_service, tenant, ticket_ids)


def test_what_is_over_when_a_ticket_is_changed_is_told_by_the_change_or_the_worker(
    own_service: Service,
) -> None:
    tenant, ticket_ids = promised(own_service)
    own_service.clock.advance(3600)
    key = tenant.key()
    for each in ticket_ids:
        key.patch(f"{TICKETS}/{each}", {"priority": "high"})
    assert_each_is_told_once(own_service, tenant, ticket_ids)


def test_what_was_told_already_is_not_looked_at_for_ever(own_service: Service) -> None:
    """A failed step and a change of the ticket at once may have left it to be looked at."""
    tenant = own_service.tenant()
    made(tenant.admin(), first_response_minutes=60)
    opened(tenant.key())
    own_service.clock.advance(3601)
    wait_until(lambda: not own_service.rows(UNTOLD))
    own_service.run("UPDATE tickets SET alert_at = 1")
    wait_until(lambda: not own_service.rows(UNTOLD))
    assert [kind for kind, *_ in told(tenant.key())] == ["ticket.sla_breached"]


def test_a_rule_escalates_what_is_late_and_the_timeline_says_it_once(own_service: Service) -> None:
    tenant = own_service.tenant()
    admin = tenant.admin()
    made(admin, first_response_minutes=60, warning_minutes=5)
    rules = {"warned": {"add_tags": ["soon"]}, "breached": {"priority": "urgent"}}
    for trigger, done in rules.items():
        rule = {"name": trigger, "trigger": trigger, "is_enabled": True, "actions": done}
        assert admin.post("/api/v1/rules", rule).is_success
    ticket = opened(tenant.key())
    own_service.clock.advance(3601)
    key = tenant.key()
    wait_until(lambda: read(key, ticket)["priority"] == "urgent")
    wait_until(lambda: read(key, ticket)["tags"] == ["soon"])
    reply(key, ticket)
    assert [kind for kind, *_ in told(key)] == ["ticket.sla_warning", "ticket.sla_breached"]
    text = logged_in(tenant).get(f"/tickets/{ticket['id']}").text
    assert [text.count(each) for each in (": warned", ": missed")] == [1, 1]
    assert "Rule breached" in text and "because" not in text


def test_a_change_that_has_read_a_ticket_before_an_announcement_runs_again(
    own_service: Service,
) -> None:
    tenant, ticket_ids = promised(own_service)
    runs: list[int] = []

    async def work(tx: Tx) -> None:
        stored = await ticket_store.find(tx, tenant.id, ticket_ids[0])
        assert stored is not None and stored.ticket.alert_at is not None
        runs.append(stored.ticket.alert_at)
        if len(runs) == 1:
            before = msgspec.structs.replace(stored.ticket, alert_at=runs[0] - 1)
            await ticket_store.replace(tx, before, before)

    try:
        own_service.write(work)
    except SerializationConflict:  # of SQLite, where nobody else can have written
        runs.append(0)
    assert len(runs) == 2


def test_what_is_to_be_announced_is_found_by_indexes_of_due_times(template: Path) -> None:
    steps = plan(template, lambda tx: steps_store.list_alerted(tx, "tenant", 5, 50))
    assert "SEARCH tickets USING INDEX tickets_due_at (tenant_id=? AND due_at>?)" in steps
    steps = plan(template, lambda tx: steps_store.list_due_tenants(tx, 5, 50))
    assert "SEARCH tickets USING COVERING INDEX tickets_alert_at (alert_at<?)" in steps
