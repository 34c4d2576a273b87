"""What rooms may rely on under concurrent writes of several processes, on both databases.

On SQLite one process serves; on PostgreSQL two services stand on one database here.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import NamedTuple, TypeVar

import pytest

from sealdesk.db.engine import SerializationConflict, Tx
from sealdesk.errors import NotFound, ServiceUnavailable
from sealdesk.state import AppState
from tests.support.client import Key, Person
from tests.support.databases import Kind, Template
from tests.support.service import PASSWORD, Service, Tenant, running

T = TypeVar("T")
AT_ONCE = 50
TICKETS = "/api/v1/external/tickets"


class Nodes(NamedTuple):
    """Two services on one database, or twice the same one."""

    first: Service
    second: Service

    def of(self, number: int) -> Service:
        return self[number % 2]


@pytest.fixture(scope="module")
def nodes(
    kind: Kind, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Nodes]:
    if kind == "sqlite":
        template: Path = request.getfixturevalue("template")
        with running(tmp_path_factory.mktemp("one"), template) as service:
            yield Nodes(service, service)
        return
    postgres: Template = request.getfixturevalue("postgres_template")
    with (
        postgres.copied() as env,
        running(tmp_path_factory.mktemp("one"), **env) as first,
        running(tmp_path_factory.mktemp("two"), **env) as second,
    ):
        yield Nodes(first, second)


@pytest.fixture
def tenant(nodes: Nodes) -> Tenant:
    return nodes.first.tenant()


@pytest.fixture
def keys(nodes: Nodes, tenant: Tenant) -> tuple[Key, Key]:
    """The same key, used on either node."""
    key = tenant.key()
    return key, Key(nodes.second, key.id, key.api_key, key.api_secret)


def _at_once(work: Callable[[int], T], count: int = AT_ONCE) -> list[T]:
    with ThreadPoolExecutor(16) as threads:
        return list(threads.map(work, range(count)))


def _patient(work: Callable[[], T], is_busy: Callable[[T], bool]) -> T:
    """Repeats a request after a conflict, as a client does."""
    for _ in range(50):
        answer = work()
        if not is_busy(answer):
            return answer
    return answer


def test_concurrent_changes_of_one_ticket_are_all_applied(keys: tuple[Key, Key]) -> None:
    ticket = keys[0].ticket()
    target = f"{TICKETS}/{ticket['id']}"

    def change(number: int) -> int:
        fields = {"custom_fields": {f"field_{number % 20}_{number}": number}}
        return _patient(
            lambda: keys[number % 2].patch(target, fields).status_code, lambda code: code == 503
        )

    count = 20  # as many fields as a ticket may have
    assert set(_at_once(change, count)) == {200}
    fields = keys[0].get(target).json()["data"]["custom_fields"]
    assert sorted(fields.values()) == list(range(count))


def test_concurrent_replies_are_all_counted(keys: tuple[Key, Key]) -> None:
    target = f"{TICKETS}/{keys[0].ticket()['id']}"

    def reply(number: int) -> int:
        return _patient(
            lambda: keys[number % 2].post(f"{target}/replies", {"body": "x"}).status_code,
            lambda code: code == 503,
        )

    assert set(_at_once(reply)) == {201}
    assert keys[1].get(target).json()["data"]["reply_count"] == AT_ONCE
    assert len(keys[0].walk(f"{target}/replies", per_page=100)) == AT_ONCE


def test_concurrent_tickets_create_one_customer(keys: tuple[Key, Key]) -> None:
    customer = {"email": "everybody@example.test"}
    made = _at_once(lambda number: keys[number % 2].ticket(customer=customer))
    assert len({ticket["customer"]["id"] for ticket in made}) == 1


def test_a_customer_is_created_once(keys: tuple[Key, Key]) -> None:
    target, new = "/api/v1/external/customers", {"email": "once@example.test"}
    codes = _at_once(lambda number: keys[number % 2].post(target, new).status_code)
    assert Counter(codes) == {201: 1, 409: AT_ONCE - 1}


def test_ticket_numbers_are_unique_and_increasing(keys: tuple[Key, Key]) -> None:
    numbers = [ticket["number"] for ticket in _at_once(lambda n: keys[n % 2].ticket())]
    assert len(set(numbers)) == AT_ONCE
    assert keys[0].ticket()["number"] > max(numbers)


def test_concurrent_repeats_of_a_request_are_executed_once(keys: tuple[Key, Key]) -> None:
    new = {"subject": "s", "description": "d", "customer": {"email": "copy@example.test"}}

    def create(number: int) -> tuple[int, str]:
        answer = keys[number % 2].post(TICKETS, new, idempotency_key="the same")
        if answer.status_code == 409:
            assert answer.json()["code"] == "idempotency_in_flight", answer.text
            return 409, answer.headers["retry-after"]
        return answer.status_code, answer.json()["data"]["id"]

    answers = set(_at_once(create))
    assert len({ticket for code, ticket in answers if code == 201}) == 1
    assert {answer for answer in answers if answer[0] != 201} <= {(409, "1")}
    assert len(keys[0].walk(TICKETS)) == 1


def test_a_revoked_key_is_never_revived(nodes: Nodes, tenant: Tenant) -> None:
    admin = tenant.admin()
    for _ in range(12):
        key = tenant.key()
        target = f"/api/v1/api-keys/{key.id}"

        def act(number: int, target: str = target) -> int:
            person = Person(nodes.of(number), admin.token)
            if number % 4 == 0:
                return person.delete(target).status_code
            if number % 4 == 1:
                return person.post(f"{target}/rotate").status_code
            return person.patch(target, {"name": f"name {number}"}).status_code

        codes = _at_once(act, 8)
        assert {codes[0], codes[4]} & {200, 204}, codes
        assert set(codes) <= {200, 204, 404, 409, 503}, codes
        for service in nodes:
            revived = Key(service, key.id, key.api_key, key.api_secret)
            assert revived.get(TICKETS).status_code == 401
        (row,) = nodes.first.rows("SELECT revoked_at FROM api_keys WHERE id = :id", id=key.id)
        assert row[0] is not None


def test_guesses_at_once_are_all_counted(nodes: Nodes, tenant: Tenant) -> None:
    def guess(number: int) -> int:
        body = {"email": tenant.admin_email, "password": "a wrong passphrase"}
        return _post(nodes.of(number), "/api/v1/auth/login", body)

    codes = Counter(_at_once(guess, 20))
    assert codes == {401: 10, 429: 10}
    body = {"email": tenant.admin_email, "password": PASSWORD}
    assert _post(nodes.second, "/api/v1/auth/login", body) == 429


def _post(service: Service, target: str, body: dict[str, str]) -> int:
    return Person(service, "").post(target, body).status_code


def test_work_is_repeated_after_eight_serialization_conflicts(nodes: Nodes, tenant: Tenant) -> None:
    runs = 0

    async def work(tx: Tx) -> int:
        nonlocal runs
        runs += 1
        name = "other" if runs > 8 else "gone"
        sql = "UPDATE tenants SET name = :new WHERE id = :id AND name = :old"
        old = "Acme" if name == "other" else "nobody's"
        await tx.execute_one(sql, {"new": "Other", "id": tenant.id, "old": old})
        return runs

    if nodes.first is nodes.second:
        with pytest.raises(SerializationConflict):
            nodes.first.write(work)
    else:
        assert nodes.first.write(work) == 9


def test_rows_locked_by_one_transaction_are_skipped_by_another(
    nodes: Nodes, tenant: Tenant
) -> None:
    # Nothing else locks a key that nobody uses; the background work locks new tickets.
    sql = "SELECT id FROM api_keys WHERE tenant_id = :tenant_id ORDER BY id LIMIT :limit"
    made = sorted(tenant.key().id for _ in range(4))
    has_claimed = Barrier(1 if nodes.first is nodes.second else 2)

    async def work(tx: Tx) -> list[str]:
        rows = await tx.select_for_update(sql, {"tenant_id": tenant.id, "limit": 2})
        if has_claimed.parties > 1:
            await asyncio.to_thread(has_claimed.wait, 60)
        return [row["id"] for row in rows]

    if nodes.first is nodes.second:
        assert nodes.first.write(work) == made[:2]
    else:
        first, second = _at_once(lambda number: nodes.of(number).write(work), 2)
        assert sorted(first + second) == made


def test_execute_many_is_atomic(nodes: Nodes, tenant: Tenant) -> None:
    sql = "UPDATE tickets SET subject = :subject WHERE tenant_id = :tenant_id AND id = :id"
    made = [tenant.key().ticket()["id"] for _ in range(3)]
    many = [{"tenant_id": tenant.id, "id": ticket, "subject": ticket} for ticket in made]

    async def work(tx: Tx) -> None:
        await tx.execute_many(sql, many)

    async def fails(tx: Tx) -> None:
        await tx.execute_many(sql, [{**one, "subject": "lost"} for one in many])
        raise NotFound

    with pytest.raises(NotFound):
        nodes.first.write(fails)
    nodes.first.write(work)
    stored = nodes.first.rows("SELECT id, subject FROM tickets WHERE tenant_id = :t", t=tenant.id)
    assert {row["id"]: row["subject"] for row in stored} == {ticket: ticket for ticket in made}


def test_one_select_for_many_parameter_sets_gives_the_rows_of_each_in_their_order(
    nodes: Nodes, tenant: Tenant
) -> None:
    sql = """
        SELECT id FROM tickets WHERE tenant_id = :tenant_id AND number > :end
        ORDER BY id DESC LIMIT :limit
    """
    made = [tenant.key().ticket()["id"] for _ in range(4)]
    other = nodes.first.tenant()
    other.key().ticket()

    async def work(tx: Tx) -> list[list[str]]:
        params = {"tenant_id": tenant.id, "limit": 2}
        many = [{**params, "end": number} for number in (4, 1, 3)]  # a word of SQL
        found = await tx.fetch_for_each(sql, [*many, {**many[0], "tenant_id": other.id}])
        return [[row["id"] for row in rows] for rows in found]

    expected = [[], [made[3], made[2]], [made[3]], []]
    assert nodes.first.in_serving(lambda state: state.database.read(work, tenant.id)) == expected


def test_one_row_can_be_changed_twice_in_one_transaction(nodes: Nodes, tenant: Tenant) -> None:
    ticket_id = tenant.key().ticket()["id"]
    key = {"tenant_id": tenant.id, "id": ticket_id}
    where = "WHERE tenant_id = :tenant_id AND id = :id AND version = :version"

    async def work(tx: Tx) -> None:
        sql = f"UPDATE tickets SET version = 2, subject = :subject {where}"
        await tx.execute_one(sql, key | {"version": 1, "subject": "Other"})
        await tx.execute_one(f"UPDATE tickets SET version = 3 {where}", key | {"version": 2})

    nodes.first.write(work)
    stored = nodes.first.rows("SELECT version, subject FROM tickets WHERE id = :id", id=ticket_id)
    assert [(row["version"], row["subject"]) for row in stored] == [(3, "Other")]


@pytest.mark.parametrize("way", ["read", "read_unindexed", "write"])
def test_a_wrong_statement_is_told_from_a_database_that_is_away(nodes: Nodes, way: str) -> None:
    """Else its work, which fails until an update, would be waited for."""

    async def run(state: AppState) -> bool:
        with pytest.raises(ServiceUnavailable) as failed:
            await getattr(state.database, way)(
                lambda tx: tx.fetch_one("SELECT id FROM nowhere LIMIT 1", {})
            )
        return failed.value.is_mistake

    assert nodes.first.in_serving(run)
