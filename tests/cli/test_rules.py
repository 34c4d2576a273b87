"""`sealdesk rules`: rules live in a file, are tested on one ticket, and tried on the past."""

import json
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.terminal import Terminal
from tests.cli.upgrades import background
from tests.support.databases import Kind
from tests.support.service import wait_until

_numbers = count()


class Desk(NamedTuple):
    """A tenant. bo: the address of one of its users."""

    id: str
    bo: str


@pytest.fixture
def desk(terminal: Terminal) -> Desk:
    """A tenant with a user."""
    number = next(_numbers)
    bo = f"bo{number}@rules.test"
    tenant_id = terminal.tenant(f"lead{number}@rules.test")
    options = ("--tenant", tenant_id, "--email", bo, "--role", "agent")
    terminal.json(
        "users", "create", *options, "--password-stdin", "--json", stdin="hunter 2 hunter"
    )
    return Desk(tenant_id, bo)


def rule(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "trigger": "created", "actions": {"priority": "low"}, **fields}


def filed(path: Path, *rules: dict[str, Any]) -> str:
    (path / "rules.json").write_text(json.dumps({"rules": rules}))
    return str(path / "rules.json")


def test_a_file_is_imported_exported_and_changed(
    terminal: Terminal, desk: Desk, tmp_path: Path
) -> None:
    tenant = ("--tenant", desk.id)
    when = [{"field": "assignee_id", "operator": "is", "values": ["", desk.bo]}]
    of_bo = {"assignee_id": desk.bo, "notify": [desk.bo.upper()]}
    one = rule("One", conditions=when, is_enabled=True, actions=of_bo)
    first = filed(tmp_path, one, rule("Two"))
    shown = terminal.out("rules", "import", first, *tenant, "--dry-run")
    assert shown.splitlines() == ["+ One", "+ Two"]
    assert terminal.json("rules", "list", *tenant) == []
    Path(first).write_text(f"\ufeff{Path(first).read_text()}")  # as Windows writes it
    terminal.out("rules", "import", first, *tenant)
    exported = json.loads(terminal.out("rules", "export", *tenant))
    assert [each["name"] for each in exported["rules"]] == ["One", "Two"]
    assert exported["rules"][0]["conditions"] == when
    assert exported["rules"][0]["actions"]["notify"] == [desk.bo]
    again = terminal.out("rules", "import", filed(tmp_path, *exported["rules"]), *tenant)
    assert again.splitlines() == ["= One", "= Two"]
    second = filed(tmp_path, rule("Two", actions={"priority": "high"}), rule("Three"))
    lines = terminal.out("rules", "import", second, *tenant, "--delete-others").splitlines()
    assert [each for each in lines if not each.startswith(" ")] == ["~ Two", "+ Three", "- One"]
    assert "    position: 2 → 1" in lines
    listed = terminal.json("rules", "list", *tenant)
    assert [each["name"] for each in listed] == ["Two", "Three"]
    assert json.loads(terminal.out("rules", "show", "Two", *tenant))["actions"] == {
        "priority": "high"
    }


def test_an_import_names_all_that_is_wrong_and_writes_nothing(
    terminal: Terminal, desk: Desk, tmp_path: Path
) -> None:
    wrong = filed(
        tmp_path,
        rule("Right"),
        rule("Wrong", actions={"assignee_id": "nobody@rules.test", "team_id": "Ghosts"}),
        rule("Wrong"),
    )
    refusal = terminal.refused("rules", "import", wrong, "--tenant", desk.id)
    assert "/rules/1/actions/assignee_id: The desk has no user “nobody@rules.test”" in refusal
    assert "/rules/1/actions/team_id: The desk has no team “Ghosts”" in refusal
    assert "/rules/2/name" in refusal
    never = [{"field": "status", "operator": "is", "values": ["closed"]}]
    wrong = filed(tmp_path, rule("Right"), rule("Never", conditions=never))
    assert "/rules/1/conditions/0" in terminal.refused(
        "rules", "import", wrong, "--tenant", desk.id
    )
    mistaken = {"priority": "high", "team": "Returns"}
    conditions = [{"field": "tag", "operator": "is", "value": "vip", "values": ["vip"]}]
    misspelt = rule("Misspelt", hour=3, actions=mistaken, conditions=conditions)
    wrong = filed(tmp_path, rule("\u200b"), misspelt)
    refusal = terminal.refused("rules", "import", wrong, "--tenant", desk.id)
    assert "/rules/0/name: " in refusal
    assert "/rules/1/hour: There is no such field. Did you mean `hours`?" in refusal
    assert "/rules/1/actions/team: " in refusal and "/rules/1/conditions/0/value: " in refusal
    Path(wrong).write_text("[]")
    assert "is not a file of rules" in terminal.refused(
        "rules", "import", wrong, "--tenant", desk.id
    )
    assert terminal.json("rules", "list", "--tenant", desk.id) == []


def test_a_rule_is_tested_on_one_ticket_and_tried_on_the_past(
    terminal: Terminal, tmp_path: Path, kind: Kind
) -> None:
    of_demo = [each for each in terminal.json("tenants", "list") if each["name"] == "Acme Ceramics"]
    ids = ("--tenant", of_demo[0]["id"])
    urgent = [{"field": "priority", "operator": "is", "values": ["urgent"]}]
    actions = {"add_tags": ["seen"], "send_event": True}
    for name, conditions in (("All", []), ("Urgent", urgent)):
        path = filed(tmp_path, rule(name, actions=actions, conditions=conditions))
        terminal.out("rules", "import", path, *ids)
    assert "seen" in terminal.out("rules", "test", "All", "1", *ids)
    with ExitStack() as stack:
        if kind == "postgresql":  # there the worker gives the events of the demo their places
            stack.enter_context(background(terminal, "worker"))
        wait_until(lambda: "send_event" in terminal.out("rules", "dry-run", "All", *ids))
    assert terminal.json("rules", "dry-run", "All", *ids)[0]["also"] == ["send_event"]
    assert "no such ticket" in terminal.refused("rules", "test", "All", "99999999", *ids)
    assert "no such rule" in terminal.refused("rules", "show", "None", *ids)
