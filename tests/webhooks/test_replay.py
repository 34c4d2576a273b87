"""The API of replays: valid time ranges, and the response."""

import pytest

from sealdesk import clock
from sealdesk.caller import SYSTEM, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict
from sealdesk.webhooks import actions
from sealdesk.webhooks.types import NewReplay, ReplayResponse
from tests.support.client import Person
from tests.support.receiver import Receiver
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import WEBHOOKS, faults, made

DAY_S = 24 * 3600


@pytest.fixture(scope="module")
def office(shared_service: Service) -> Tenant:
    """A tenant that the tests of this file share."""
    return shared_service.tenant()


@pytest.fixture(scope="module")
def admin(office: Tenant) -> Person:
    return office.admin()


@pytest.fixture
def path(admin: Person, receiver: Receiver) -> str:
    """The path of a new endpoint."""
    return f"{WEBHOOKS}/{made(admin, receiver)['id']}"


def ago(service: Service, seconds: float) -> str:
    return clock.iso(service.clock.now_us() - round(seconds * 1_000_000))


def test_a_replay_is_shown_with_its_range_and_in_the_list(
    admin: Person, service: Service, path: str
) -> None:
    since, until = ago(service, 60), ago(service, 1)
    answer = admin.post(f"{path}/replay", {"since": since, "until": until})
    assert answer.status_code == 202
    shown = answer.json()["data"]
    assert (shown["since"], shown["until"]) == (since, until)
    assert (shown["delivery_count"], shown["finished_at"]) == (0, None)
    listed = admin.get(f"{path}/replays").json()["data"]
    assert [one["id"] for one in listed] == [shown["id"]]


def test_second_replay_is_refused_while_one_is_in_progress(
    admin: Person, office: Tenant, service: Service, path: str
) -> None:
    endpoint_id = path.rpartition("/")[2]
    asked = NewReplay(ago(service, 60), ago(service, 1))
    caller = Caller(office.id, SYSTEM, frozenset(), "")
    begun = list[ReplayResponse]()

    async def twice(tx: Tx) -> None:
        # In one transaction, so that the worker cannot finish the first replay in between.
        for _ in "12":
            now_us = service.clock.now_us()
            begun.append(await actions.replay(tx, caller, endpoint_id, asked, now_us=now_us))

    with pytest.raises(Conflict) as clash:
        service.write(twice)
    assert clash.value.code == "replay_in_progress"
    assert clash.value.members == {"replay_id": begun[-1].id}
    again = {"since": asked.since, "until": asked.until}
    for _ in "12":
        wait_until(lambda: admin.post(f"{path}/replay", again).status_code == 202)
    assert len(admin.get(f"{path}/replays").json()["data"]) == 2


@pytest.mark.parametrize(
    ("since_s", "until_s", "expected"),
    [
        (60, 60, [("/until", "not_after_since")]),
        (60, 61, [("/until", "not_after_since")]),
        (60, -5, [("/until", "in_future")]),
        (30 * DAY_S + 5, 60, [("/since", "too_old")]),
        (-5, -5, [("/until", "not_after_since"), ("/until", "in_future")]),
    ],
)
def test_a_range_that_cannot_be_replayed_is_refused(
    admin: Person,
    service: Service,
    path: str,
    since_s: int,
    until_s: int,
    expected: list[tuple[str, str]],
) -> None:
    now_s = service.clock.now_us() / 1_000_000
    since, until = (clock.iso(round((now_s - s) * 1_000_000)) for s in (since_s, until_s))
    assert faults(admin.post(f"{path}/replay", {"since": since, "until": until})) == expected
    assert admin.get(f"{path}/replays").json()["data"] == []


def test_all_of_30_days_can_be_replayed(admin: Person, service: Service, path: str) -> None:
    asked = {"since": ago(service, 30 * DAY_S - 60), "until": ago(service, 0)}
    assert admin.post(f"{path}/replay", asked).status_code == 202


def test_a_range_without_times_is_refused(admin: Person, path: str) -> None:
    assert faults(admin.post(f"{path}/replay", {"since": "yesterday"})) == [
        ("/since", "invalid_time"),
        ("/until", "required"),
    ]


def test_replay_to_a_paused_endpoint_is_refused(admin: Person, service: Service, path: str) -> None:
    admin.patch(path, {"is_active": False})
    answer = admin.post(f"{path}/replay", {"since": ago(service, 60), "until": ago(service, 1)})
    assert (answer.status_code, answer.json()["code"]) == (409, "webhook_inactive")
