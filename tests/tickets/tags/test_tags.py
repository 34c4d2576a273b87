"""Settings → Tags, suggestions, and other names for tags in steps of the worker."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sealdesk.errors import ServiceUnavailable
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.tags import rules, store
from sealdesk.tickets.tags.steps import actions
from sealdesk.tickets.tags.steps import store as steps
from sealdesk.worker import stepper
from sealdesk.worker.turns import LeastServed
from tests.support.client import Key
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.plans import plan
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
HOME, RENAME = "/settings/tags", "/settings/tags/rename"


@pytest.fixture
def key(tenant: Tenant) -> Key:
    return tenant.key(name="Shop")


def _tags(key: Key, ticket: dict[str, Any]) -> list[str]:
    return list(key.get(f"{TICKETS}/{ticket['id']}").json()["data"]["tags"])


def _rename(visitor: Visitor, tag: str, new_tag: str, **fields: str) -> Page:
    page = visitor.get(f"{HOME}?")
    token = page.form("/log-out").value("form_token")
    sent = {"form_token": token, "tag": tag, "new_tag": new_tag, **fields}
    return visitor.post(RENAME, [*sent.items()])


def _unfinished(service: Service) -> int:
    sql = "SELECT id FROM tag_renamings WHERE finished_at IS NULL LIMIT 100"
    return len(service.rows(sql))


def _finish(service: Service) -> None:
    while _unfinished(service):
        service.in_background(stepper.RENAMINGS.step)


def _suggested(visitor: Visitor, typed: str) -> list[str]:
    page = visitor.once("GET", f"/tickets/tags?q={typed}")
    return re.findall(r"<option>([^<]*)</option>", page.text)


def test_the_tags_of_the_desk_are_listed_with_their_tickets(visitor: Visitor, key: Key) -> None:
    assert "No tags yet" in visitor.get(HOME).text
    for tags in (["vip", "kiln"], ["vip"], ["a, b"]):
        key.ticket(tags=tags)
    page = visitor.get(HOME)
    assert_page_is_secure(page)
    for shown in ("vip Rename or merge 2 tickets", "kiln Rename or merge 1 ticket"):
        assert shown in page.text
    assert page.text.index("a, b") < page.text.index("kiln") < page.text.index("vip")
    links = [value for _, name, value in page.attributes if name == "href" and "tag=vip" in value]
    assert "/tickets?status=all&tag=vip" in links


def test_tags_have_pages(visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sealdesk.tickets.tags.pages._PER_PAGE", 2)
    key.ticket(tags=["a", "a,b", "a1", "é", "z"])
    seen, path = [], HOME
    for _ in range(3):
        page = visitor.get(path)
        seen.append([tag for tag in ("a,b", "a1", "é", "z") if f"{tag} Rename" in page.text])
        older = [v for _, n, v in page.attributes if n == "href" and v.startswith(f"{HOME}?before")]
        path = older[-1] if older else HOME
    assert seen == [["a,b"], ["a1", "z"], ["é"]]
    assert visitor.get(f"{HOME}?before=zz,c3").status == 200


def test_tags_are_suggested_by_use_and_by_what_is_typed(visitor: Visitor, key: Key) -> None:
    for tags in (["vip", "VIP"], ["vip"], ["kiln", "vase"], ["vase", "vip"], ["Vegan"]):
        key.ticket(tags=tags)
    assert _suggested(visitor, "")[:2] == ["vip", "vase"]
    assert _suggested(visitor, "v") == ["vip", "vase", "Vegan"]
    assert _suggested(visitor, "VI") == ["vip"]
    assert _suggested(visitor, "nothing") == []


def test_tags_of_other_tenants_are_neither_suggested_nor_renamed(
    visitor: Visitor, key: Key, service: Service
) -> None:
    other = service.tenant("Other").key(name="Theirs")
    theirs = other.ticket(tags=["secret", "vip"])
    key.ticket(tags=["vip"])
    assert _suggested(visitor, "s") == []
    assert visitor.get(f"{RENAME}?tag=secret").status == 404
    assert _rename(visitor, "secret", "known").status == 404
    assert _rename(visitor, "vip", "VIP").status == 200
    _finish(service)
    assert _tags(other, theirs) == ["secret", "vip"]


def test_only_administrators_rename_but_everybody_gets_suggestions(
    tenant: Tenant, key: Key
) -> None:
    key.ticket(tags=["vip"])
    tenant.user("agent", f"agent.of.{tenant.id}@example.test", "Agent")
    agent = Visitor(tenant.service)
    agent.log_in(f"agent.of.{tenant.id}@example.test")
    assert _suggested(agent, "v") == ["vip"]
    for path in (HOME, f"{RENAME}?tag=vip", f"{HOME}/progress"):
        assert agent.get(path).status == 403


def test_a_tag_is_renamed_on_all_tickets_with_events_and_history(
    visitor: Visitor, key: Key, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "STEP_TICKETS", 2)
    tickets = [key.ticket(tags=["a", "vip", "z"]) for _ in range(5)]
    closed = key.ticket(tags=["vip"])
    key.patch(f"{TICKETS}/{closed['id']}", {"status": "closed"})
    other = key.ticket(tags=["vipers"])
    assert "vip → gold" in _rename(visitor, "vip", " gold ").text
    _finish(service)
    assert [_tags(key, each) for each in tickets] == [["a", "gold", "z"]] * 5
    assert (_tags(key, closed), _tags(key, other)) == (["gold"], ["vipers"])
    page = visitor.get(HOME)
    assert "6 tickets were changed" in page.text and "vip Rename" not in page.text
    listed = key.get(f"{TICKETS}?tag=gold").json()["data"]
    assert len(listed) == 6 and key.get(f"{TICKETS}?tag=vip").json()["data"] == []
    history = visitor.get(f"/tickets/{closed['id']}/history").text
    assert "Tags: vip → gold" in history
    service.settle()
    events = key.get("/api/v1/external/events?type=ticket.updated&per_page=100").json()["data"]
    assert len(events) == 1 + 6, "closing one ticket, and its new tag on each"
    assert "Tag renamed" in visitor.get("/settings/audit").text


def test_two_tags_become_one_only_when_confirmed(
    visitor: Visitor, key: Key, service: Service
) -> None:
    both, one = key.ticket(tags=["VIP", "gold", "x"]), key.ticket(tags=["VIP"])
    asked = _rename(visitor, "VIP", "gold")
    assert (asked.status, "Renamed tags" in visitor.get(HOME).text) == (409, False)
    form = asked.form(RENAME)
    assert (form.value("tag"), form.value("new_tag"), form.value("merge")) == ("VIP", "gold", "yes")
    visitor.submit(form)
    _finish(service)
    assert (_tags(key, both), _tags(key, one)) == (["gold", "x"], ["gold"])
    assert "Tags merged" in visitor.get("/settings/audit").text


@pytest.mark.parametrize("typed", ["", " ", "t" * 65, "vip"])
def test_a_wrong_name_is_refused(visitor: Visitor, key: Key, typed: str) -> None:
    key.ticket(tags=["vip"])
    page = _rename(visitor, "vip", typed)
    assert page.status == 422
    assert ("p", "id", "new_tag-fault") in page.attributes
    assert "Renamed tags" not in visitor.get(HOME).text


def test_a_tag_that_is_being_renamed_has_to_wait(
    visitor: Visitor, key: Key, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_CLAIM", steps._CLAIM.replace("IS NULL", "< 0"))
    key.ticket(tags=["a", "b", "c", "d", *"123456"])
    assert _rename(visitor, "a", "e").status == 200
    for tag, new_tag in (("a", "f"), ("b", "e"), ("b", "a")):
        page = _rename(visitor, tag, new_tag, merge="yes")
        assert (page.status, "is being renamed" in page.text) == (409, True)
    begun = [_rename(visitor, each, f"new {each}").status for each in "123456"]
    assert begun == [200] * (rules.MAX_UNFINISHED - 1) + [409, 409]


def test_desks_take_turns(own_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "STEP_TICKETS", 1)
    turns = []
    store_step = steps.store_step

    async def watch(tx: Any, renaming: Any) -> None:
        turns.append(renaming.tenant_id)
        await store_step(tx, renaming)

    many, few = own_service.tenant("Many"), own_service.tenant("Few")
    for tenant, count in ((many, 6), (few, 2)):
        key = tenant.key(name="Shop")
        for _ in range(count):
            key.ticket(tags=["old"])
    monkeypatch.setattr(stepper, "LOOK_EVERY_S", 0.05)
    monkeypatch.setattr(steps, "store_step", watch)
    charge = LeastServed.charge  # as if each step took as long
    monkeypatch.setattr(LeastServed, "charge", lambda self, who, _: charge(self, who, 1.0))
    with_many, with_few = logged_in(many), logged_in(few)
    _rename(with_many, "old", "new")
    _rename(with_few, "old", "new")
    _finish(own_service)
    last_of_few = len(turns) - 1 - turns[::-1].index(few.id)
    assert many.id in turns[last_of_few + 1 :], "the desk with few tickets is finished first"


def test_an_interrupted_step_changes_nothing_and_runs_again(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    key, store_step, failures = tenant.key(name="Shop"), steps.store_step, [1]
    tickets = [key.ticket(tags=["old"]) for _ in range(3)]

    async def fail_once(tx: Any, renaming: Any) -> None:
        if failures:
            failures.pop()
            raise ServiceUnavailable
        await store_step(tx, renaming)

    monkeypatch.setattr(steps, "store_step", fail_once)
    _rename(logged_in(tenant), "old", "new")
    _finish_in_spite_of_failures(own_service)
    assert not failures
    assert [_tags(key, each) for each in tickets] == [["new"]] * 3
    (row,) = own_service.rows("SELECT total, changed_count FROM tag_renamings LIMIT 2")
    assert (row["total"], row["changed_count"]) == (3, 3)
    versions = [key.get(f"{TICKETS}/{each['id']}").json()["data"]["version"] for each in tickets]
    assert versions == [2, 2, 2], "each ticket is changed once"


def _finish_in_spite_of_failures(service: Service) -> None:
    while _unfinished(service):
        try:
            service.in_background(stepper.RENAMINGS.step)
        except ServiceUnavailable:
            continue


def test_a_renaming_that_fails_holds_up_no_other_desk(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    hindered, other = own_service.tenant("Hindered"), own_service.tenant("Other")
    made = {each.id: each.key().ticket(tags=["old"]) for each in (hindered, other)}
    apply_change = tickets.apply_change

    async def contended(tx: Any, caller: Any, *of: Any, **named: Any) -> Any:
        if caller.tenant_id == hindered.id:
            raise ServiceUnavailable
        return await apply_change(tx, caller, *of, **named)

    monkeypatch.setattr(tickets, "apply_change", contended)
    for tenant in (hindered, other):
        _rename(logged_in(tenant), "old", "new")
    for _ in range(10):
        with suppress(ServiceUnavailable):
            own_service.in_background(stepper.RENAMINGS.step)
    assert _tags(other.key(), made[other.id]) == ["new"]
    monkeypatch.undo()
    _finish(own_service)
    assert _tags(hindered.key(), made[hindered.id]) == ["new"]


def test_a_ticket_that_gets_the_old_tag_meanwhile_is_changed_too(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "STEP_TICKETS", 1)
    tenant = own_service.tenant()
    key = tenant.key(name="Shop")
    key.ticket(tags=["old"])
    _rename(logged_in(tenant), "old", "new")
    later = key.ticket(tags=["old"])
    _finish(own_service)
    tags = _tags(key, later)
    assert tags == ["new"] or key.get(f"{TICKETS}?tag=old").json()["data"], tags


def test_a_tag_gets_another_case_and_macros_that_add_it_follow(
    visitor: Visitor, key: Key, tenant: Tenant, service: Service
) -> None:
    tickets = [key.ticket(tags=["vip"]) for _ in range(2)]
    admin, macros = tenant.admin(), "/api/v1/macros"
    for name, tags in (("ours", ["a", "vip"]), ("others", ["vipers"])):
        admin.post(macros, {"name": name, "shortcut": name, "body": "Hi", "tags": tags})
    _rename(visitor, "vip", "VIP")
    _finish(service)
    assert [_tags(key, each) for each in tickets] == [["VIP"]] * 2
    stored = {each["name"]: each["tags"] for each in admin.get(macros).json()["data"]}
    assert stored == {"ours": ["a", "VIP"], "others": ["vipers"]}


def test_views_that_filter_by_the_tag_follow(
    visitor: Visitor, key: Key, tenant: Tenant, service: Service
) -> None:
    ticket = key.ticket(tags=["vip & co"])
    for name, tag in (("Ours", "vip+%26+co"), ("Others", "vip")):
        form = visitor.get(f"/tickets/views/new?status=all&tag={tag}").form("/tickets/views")
        visitor.submit(form, name=name)
    _rename(visitor, "vip & co", "gold, silver")
    _finish(service)
    own = "SELECT name, query FROM views WHERE tenant_id = :tenant ORDER BY name LIMIT 10"
    rows = service.rows(own, tenant=tenant.id)
    queries = {row["name"]: row["query"] for row in rows if row["name"] in ("Ours", "Others")}
    assert queries == {"Ours": "status=all&tag=gold%2C+silver", "Others": "status=all&tag=vip"}
    assert _tags(key, ticket) == ["gold, silver"]


def test_a_view_that_is_saved_meanwhile_is_not_overwritten(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant, list_queries, stale = own_service.tenant(), steps.list_queries, [1]
    visitor = logged_in(tenant)
    tenant.key().ticket(tags=["old"])
    form = visitor.get("/tickets/views/new?status=all&priority=low&tag=old").form("/tickets/views")
    visitor.submit(form, name="Ours")

    async def read_before_it_was_saved(*of: Any) -> Any:
        views = await list_queries(*of)
        return (
            [(each, "status=all&tag=old") for each, _ in views] if stale and stale.pop() else views
        )

    monkeypatch.setattr(steps, "list_queries", read_before_it_was_saved)
    _rename(visitor, "old", "new")
    _finish(own_service)
    (view,) = own_service.rows("SELECT query FROM views LIMIT 2")
    assert sorted(view["query"].split("&")) == ["priority=low", "status=all", "tag=new"]


def test_finished_renamings_are_deleted_after_a_week(own_service: Service) -> None:
    tenant = own_service.tenant()
    tenant.key(name="Shop").ticket(tags=["old"])
    _rename(logged_in(tenant), "old", "new")
    _finish(own_service)
    own_service.clock.advance(7 * 24 * 3600 - 60)
    own_service.prune()
    assert len(own_service.rows("SELECT id FROM tag_renamings LIMIT 2")) == 1
    own_service.clock.advance(120)
    own_service.prune()
    assert own_service.rows("SELECT id FROM tag_renamings LIMIT 2") == []


def test_hostile_tags_are_shown_suggested_and_renamed(
    visitor: Visitor, key: Key, service: Service
) -> None:
    for text in HOSTILE_TEXTS[::40]:
        tag = text.strip()[:60]
        if not tag or "\0" in tag:
            continue
        ticket = key.ticket(tags=[tag])
        assert_page_is_secure(visitor.get(HOME))
        renamed = _rename(visitor, tag, f"n {tag}")
        assert renamed.status == 200, tag
        assert_page_is_secure(renamed)
        _finish(service)
        assert _tags(key, ticket) == [f"n {tag}".strip()]


def test_tags_are_read_from_the_index_of_their_tickets(template: Path) -> None:
    within = rules.range_of("v")
    planned = plan(template, lambda tx: store.list_tags(tx, "tenant", within, 50, 100))
    read = [step for step in planned if "ticket_tags" in step or re.search(r" [gcx] USING", step)]
    assert len(read) == 3
    assert all("SEARCH" in step and "PRIMARY KEY (tenant_id=? AND tag" in step for step in read)
    assert not [step for step in planned if "SCAN ticket_tags" in step]


def test_unfinished_renamings_are_found_by_their_index(template: Path) -> None:
    planned = plan(template, lambda tx: steps.list_due_tenants(tx, 0, 9))
    assert "SCAN tag_renamings USING INDEX tag_renamings_unfinished" in planned
