"""Endpoints that are gone or fail for five days are disabled until a user activates them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Person
from tests.support.receiver import Receiver, receiving
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import WEBHOOKS, made

DAY_S = 24 * 3600
# The second attempt, too, comes only when the clock is advanced.
_LATER = {"Retry-After": "300"}


class Office:
    """A tenant with an endpoint whose responses the test sets, and one that is notified."""

    def __init__(self, tenant: Tenant, receiver: Receiver, listener: Receiver) -> None:
        self._tenant = tenant
        self.key = tenant.key()
        self.endpoint = made(tenant.admin(), receiver)
        self.listener = listener
        made(tenant.admin(), listener, events=["webhook.disabled"])

    @property
    def admin(self) -> Person:
        return self._tenant.admin()

    def shown(self) -> dict[str, Any]:
        return dict(self.admin.get(f"{WEBHOOKS}/{self.endpoint['id']}").json()["data"])

    def until_tried(self, count: int) -> None:
        """Wait until there are this many attempts."""
        sql = "SELECT count(*) FROM attempts WHERE tenant_id = :id AND url = :url"
        url, service = self.endpoint["url"], self._tenant.service
        wait_until(lambda: service.rows(sql, id=self._tenant.id, url=url)[0][0] == count)


@pytest.fixture
def office(timed_service: Service, receiver: Receiver) -> Iterator[Office]:
    with receiving() as listener:
        yield Office(timed_service.tenant(), receiver, listener)


def test_410_disables_at_once_and_records_an_event(office: Office, receiver: Receiver) -> None:
    receiver.answers(410)
    office.key.ticket()
    (got,) = office.listener.wait(1)
    told = json.loads(got.body)
    shown = office.shown()
    assert (shown["is_active"], shown["disabled_reason"]) == (False, "gone")
    assert told["type"] == "webhook.disabled"
    changes = {"is_active": [True, False], "disabled_reason": [None, "gone"]}
    assert told["data"] == {"object": shown, "changes": changes}
    assert "whsec_" not in got.body.decode()


def test_five_days_of_failure_disable_until_a_user_activates(
    office: Office, receiver: Receiver, timed_service: Service
) -> None:
    receiver.answers(500, headers=_LATER)
    office.key.ticket()
    office.until_tried(1)
    assert office.shown()["failing_since"] is not None
    timed_service.clock.advance(5 * DAY_S - 3600)
    office.until_tried(2)
    assert office.shown()["is_active"]
    timed_service.clock.advance(4000)
    office.listener.wait(1)
    shown = office.shown()
    assert (shown["is_active"], shown["disabled_reason"]) == (False, "failing")
    assert json.loads(office.listener.got[0].body)["data"]["object"] == shown
    receiver.answers(200)
    timed_service.clock.advance(2 * DAY_S)
    tried = len(receiver.got)
    answer = office.admin.patch(f"{WEBHOOKS}/{office.endpoint['id']}", {"is_active": True})
    assert answer.json()["data"]["disabled_reason"] is None
    receiver.wait(tried + 1)
    wait_until(lambda: office.shown()["failing_since"] is None)


def test_success_resets_failing_since(
    office: Office, receiver: Receiver, timed_service: Service
) -> None:
    receiver.answers(500, headers=_LATER)
    office.key.ticket()
    office.until_tried(1)
    receiver.answers(200)
    timed_service.clock.advance(4 * DAY_S)
    office.until_tried(2)
    wait_until(lambda: office.shown()["failing_since"] is None)
    receiver.answers(500, headers=_LATER)
    office.key.ticket()
    office.until_tried(3)
    timed_service.clock.advance(4 * DAY_S)
    office.until_tried(4)
    assert office.shown()["is_active"]
