"""Macros by API: what is stored, what is refused, and the audit log."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.db.postgres.transaction import PostgresTx
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.macros import rules, store
from tests.support.client import Person
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.plans import plan
from tests.support.service import Service, Tenant
from tests.tickets.macros import MACROS, made, new_macro


def faults(answer: Any) -> list[tuple[str, str]]:
    assert answer.status_code == 422, answer.text
    return [(each["pointer"], each["code"]) for each in answer.json()["errors"]]


def listed(admin: Person) -> list[dict[str, Any]]:
    return list(admin.get(MACROS).json()["data"])


def test_a_macro_is_stored_as_it_was_sent(admin: Person, tenant: Tenant) -> None:
    agent = tenant.user("agent", name="Bo")
    new = new_macro(status="pending", priority="high", assignee_id=agent, tags=["a", "b", "a"])
    answer = admin.post(MACROS, new)
    macro = answer.json()["data"]
    assert answer.headers["location"] == f"{MACROS}/{macro['id']}"
    assert {name: macro[name] for name in new} == {**new, "tags": ["a", "b"]}
    assert admin.get(answer.headers["location"]).json()["data"] == macro


def test_a_shortcut_with_a_joiner_is_the_one_without_it(admin: Person) -> None:
    with_joiner = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0645"  # Persian
    assert made(admin, shortcut=with_joiner)["shortcut"] == with_joiner
    again = admin.post(MACROS, new_macro(name="B", shortcut=with_joiner.replace("\u200c", "")))
    assert faults(again) == [("/shortcut", "taken")]


def test_what_is_left_out_stays_as_it_is_on_the_ticket(admin: Person) -> None:
    macro = made(admin, body="Text")
    unset: dict[str, Any] = {"status": None, "priority": None, "assignee_id": None, "tags": []}
    assert {name: macro[name] for name in unset} == unset


def test_a_patch_changes_what_it_names_and_null_clears(admin: Person) -> None:
    macro = made(admin, status="pending", tags=["vip"], assignee_id="me")
    path = f"{MACROS}/{macro['id']}"
    changed = admin.patch(path, {"name": "New", "status": None, "tags": None}).json()["data"]
    updated_at = changed["updated_at"]
    assert changed == {
        **macro, "name": "New", "status": None, "tags": [], "updated_at": updated_at,
    }  # fmt: skip
    assert admin.patch(path, {"name": "New"}).json()["data"]["updated_at"] == updated_at


def test_a_deleted_macro_does_not_exist(admin: Person) -> None:
    path = f"{MACROS}/{made(admin)['id']}"
    assert admin.call("DELETE", path).status_code == 204
    assert admin.get(path).status_code == 404
    assert admin.call("DELETE", path).status_code == 404
    made(admin)  # its shortcut is free again


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("Hello {{customer.frist_name}}", "unknown_variable"),
        ("Hello {{}}", "unknown_variable"),
        ("Hello {{ticket}}", "unknown_variable"),
        ("Hello {{Customer.Name}}", "unknown_variable"),
        ("Hello {{customer.name}", "unfinished_variable"),
        ("Hello {{ {customer.name} }}", "unfinished_variable"),
        ("{{ticket.number}}" * 101, "too_many_variables"),
    ],
)
def test_an_unknown_variable_is_refused_and_nothing_is_stored(
    admin: Person, body: str, code: str
) -> None:
    assert faults(admin.post(MACROS, new_macro(body=body))) == [("/body", code)]
    assert listed(admin) == []
    macro = made(admin)
    path = f"{MACROS}/{macro['id']}"
    assert faults(admin.patch(path, {"body": body, "name": "Half"})) == [("/body", code)]
    assert admin.get(path).json()["data"] == macro


def test_the_refusal_of_a_variable_says_what_would_be_right(admin: Person) -> None:
    answer = admin.post(MACROS, new_macro(body="Hello {{customer.frist_name}}"))
    (error,) = answer.json()["errors"]
    assert error["message"].startswith(
        "{{customer.frist_name}} is not a variable. Did you mean {{customer.first_name}}? There are"
    )
    assert "{{ticket.number}}" in error["message"]


@for_each(
    ("fields", "fault"),
    [
        ({"name": " "}, ("/name", "too_short")),
        ({"name": "x" * 101}, ("/name", "too_long")),
        ({"shortcut": "two words"}, ("/shortcut", "invalid_shortcut")),
        ({"shortcut": ";refund"}, ("/shortcut", "invalid_shortcut")),
        ({"shortcut": "refund\n"}, ("/shortcut", "invalid_shortcut")),
        ({"shortcut": "x" * 33}, ("/shortcut", "too_long")),
        ({"body": "x" * 65537}, ("/body", "too_long")),
        ({"body": " \n"}, ("/body", "empty_macro")),
        ({"status": "done"}, ("/status", "invalid_value")),
        ({"tags": [""]}, ("/tags/0", "too_short")),
        ({"tags": ["x"] * 51}, ("/tags", "too_many")),
        ({"is_personal": True}, ("/is_personal", "unknown_field")),
        ({"restriction": {"type": "User"}}, ("/restriction", "unknown_field")),
        ({"visibility": "only_me"}, ("/visibility", "unknown_field")),
        ({"assignee_id": "nobody"}, ("/assignee_id", "unknown_assignee")),
        ({"assignee_id": ids.mint(1)}, ("/assignee_id", "unknown_assignee")),
    ],
)
def test_an_invalid_macro_is_refused(
    admin: Person, fields: dict[str, Any], fault: tuple[str, str]
) -> None:
    found = faults(admin.post(MACROS, new_macro(**fields)))
    assert found == [fault]
    assert listed(admin) == []


def test_a_macro_without_a_text_sets_a_field(admin: Person) -> None:
    macro = made(admin, body="", tags=["vip"])
    assert listed(admin) == [macro]
    path = f"{MACROS}/{macro['id']}"
    assert faults(admin.patch(path, {"tags": []})) == [("/body", "empty_macro")]


def test_a_shortcut_belongs_to_one_macro_whatever_its_case(admin: Person, service: Service) -> None:
    taken, other = made(admin, shortcut="Straße"), made(admin, shortcut="b")
    for shortcut in ("straße", "STRASSE"):
        new = new_macro(shortcut=shortcut, name="Another")
        assert faults(admin.post(MACROS, new)) == [("/shortcut", "taken")]
        answer = admin.patch(f"{MACROS}/{other['id']}", {"shortcut": shortcut, "name": "Half"})
        assert faults(answer) == [("/shortcut", "taken")]
    assert admin.get(f"{MACROS}/{other['id']}").json()["data"] == other
    own = admin.patch(f"{MACROS}/{taken['id']}", {"shortcut": "strasse"})
    assert own.json()["data"]["shortcut"] == "strasse"
    made(service.tenant().admin(), shortcut="straße")


def test_a_name_is_taken_within_its_folder_and_may_be_spelled_otherwise(admin: Person) -> None:
    refund = made(admin, name="Caf\u00e9 :: Refund")
    other = made(admin, name="Refund", shortcut="other")  # in no folder
    answer = admin.patch(f"{MACROS}/{other['id']}", {"name": "CAFE\u0301::refund"})
    assert faults(answer) == [("/name", "taken")]
    own = admin.patch(f"{MACROS}/{refund['id']}", {"name": "CAF\u00c9::Refund"})
    assert own.json()["data"]["name"] == "CAF\u00c9::Refund"


def test_only_active_users_of_the_desk_are_assignees(
    admin: Person, tenant: Tenant, service: Service
) -> None:
    foreign = service.tenant().user("agent", name="Elsewhere")
    answer = admin.post(MACROS, new_macro(assignee_id=foreign))
    assert faults(answer) == [("/assignee_id", "unknown_assignee")]
    agent = tenant.user("agent", name="Bo")
    macro = made(admin, assignee_id=agent)
    service.run(f"UPDATE users SET is_active = FALSE WHERE id = '{agent}'")
    answer = admin.post(MACROS, new_macro(shortcut="b", assignee_id=agent))
    assert faults(answer) == [("/assignee_id", "unknown_assignee")]
    # Everything else of the macro can still be changed.
    changed = admin.patch(f"{MACROS}/{macro['id']}", {"name": "Renamed"})
    assert changed.json()["data"]["assignee_id"] == agent


def test_of_macros_created_at_once_as_many_exist_as_there_may_be(
    start_nodes: Callable[..., list[Service]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_MACROS", 5)
    nodes = start_nodes()
    token = nodes[0].tenant().admin().token

    def make(number: int) -> tuple[int, str | None]:
        person = Person(nodes[number % len(nodes)], token)
        answer = person.post(MACROS, new_macro(shortcut=f"m{number}"))
        return answer.status_code, answer.json().get("code")

    with ThreadPoolExecutor(4) as pool:
        assert Counter(pool.map(make, range(8))) == {(201, None): 5, (409, "too_many_macros"): 3}
    assert len(listed(Person(nodes[0], token))) == 5


def test_a_macro_is_counted_before_one_created_at_once(
    start_nodes: Callable[..., list[Service]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite there is one writer. On PostgreSQL each waits until the other counts or waits."""
    monkeypatch.setattr(rules, "MAX_MACROS", 1)
    nodes = start_nodes()
    token = nodes[0].tenant().admin().token
    locking, counting, lock, count = [], [], PostgresTx.lock, store.count

    async def noted_lock(tx: PostgresTx, name: str, tenant_id: str = "") -> None:
        if name == "macros":
            locking.append(name)
        await lock(tx, name, tenant_id)

    async def noted_count(tx: Tx, tenant_id: str, owner_id: str) -> int:
        found = await count(tx, tenant_id, owner_id)
        counting.append(tenant_id)
        while max(len(locking), len(counting)) < len(nodes):  # noqa: ASYNC110 - two loops
            await asyncio.sleep(0.01)
        return found

    monkeypatch.setattr(PostgresTx, "lock", noted_lock)
    monkeypatch.setattr(store, "count", noted_count)

    def make(node: Service) -> int:
        new = new_macro(shortcut=f"m{node.port}")
        return Person(node, token).post(MACROS, new).status_code

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(make, nodes))
    assert statuses == [201, 409][: len(nodes)]


def test_of_equal_shortcuts_at_once_one_is_stored(
    start_nodes: Callable[..., list[Service]],
) -> None:
    nodes = start_nodes()
    token = nodes[0].tenant().admin().token

    def make(number: int) -> int:
        return Person(nodes[number % len(nodes)], token).post(MACROS, new_macro()).status_code

    with ThreadPoolExecutor(4) as pool:
        assert Counter(pool.map(make, range(6))) == {201: 1, 422: 5}


def test_macros_are_listed_newest_first_by_pages(admin: Person) -> None:
    made_ids = [made(admin, shortcut=f"m{number}")["id"] for number in range(5)]
    seen: list[str] = []
    target = f"{MACROS}?per_page=2"
    for _ in range(3):
        page = admin.get(target).json()
        seen += [each["id"] for each in page["data"]]
        target = f"{MACROS}?per_page=2&cursor={page['meta']['next_cursor']}"
    assert seen == made_ids[::-1]
    assert not page["meta"]["has_more"]


def test_hostile_texts_are_stored_unchanged(admin: Person) -> None:
    for number, text in enumerate(HOSTILE_TEXTS):
        if "{{" in text:
            continue
        macro = made(admin, name=text, body=text, tags=[text], shortcut=f"m{number}")
        assert (macro["name"], macro["body"], macro["tags"]) == (text, text, [text])


def test_each_change_is_in_the_audit_log_without_the_text(admin: Person, tenant: Tenant) -> None:
    macro = made(admin, body="Our secret wording")
    path = f"{MACROS}/{macro['id']}"
    admin.patch(path, {"body": "Another secret wording", "priority": "low"})
    admin.patch(path, {"priority": "low"})
    admin.call("DELETE", path)
    rows = tenant.service.rows(
        "SELECT action, object_id, details FROM audit WHERE tenant_id = :tenant"
        " AND action LIKE 'macro.%' ORDER BY id LIMIT 10",
        tenant=tenant.id,
    )
    assert [(row[0], row[1]) for row in rows] == [
        (f"macro.{what}", macro["id"]) for what in ("created", "updated", "deleted")
    ]
    assert json.loads(rows[1][2])["changes"] == {
        "body": ["18 characters", "22 characters"], "priority": [None, "low"],
    }  # fmt: skip
    assert "wording" not in "".join(row[2] for row in rows)


def test_every_statement_reads_macros_by_an_index(template: Path) -> None:
    page = PageRequest(25, ["id"])
    by_key = "SEARCH macros USING INDEX sqlite_autoindex_macros_1 (tenant_id=?"
    expected = {
        f"{by_key} AND id<?)": lambda tx: store.list_macros(tx, "t", page),
        "SEARCH macros USING INDEX macros_shortcut (tenant_id=? AND owner_id=?)": (
            lambda tx: store.list_choices(tx, "t")
        ),
        f"{by_key} AND id=?)": lambda tx: store.find(tx, "t", "id"),
        "SEARCH macros USING INDEX macros_shortcut (tenant_id=? AND owner_id=? AND"
        " shortcut_identity=?)": (lambda tx: store.find_shortcut(tx, "t", "x", "u")),
    }
    for step, work in expected.items():
        assert plan(template, work) == [step]
