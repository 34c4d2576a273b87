"""`sealdesk tickets`, `customers` and `replies`: tables for people, JSON for scripts, exports."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fixtures import Home, on_a_file
from tests.cli.terminal import Terminal
from tests.support.databases import SQLITE_FIRST

NEW = ("--subject", "Broken bowl", "--description", "It has a crack.")


@pytest.fixture
def with_key(home: Home) -> Terminal:
    """A shell with an API key of a tenant of its own."""
    tenant = home.terminal.tenant(f"{os.urandom(6).hex()}@acme.test")
    options = ("--tenant", tenant, "--name", "Terminal", "--rate-limit", "100000")
    key = home.terminal.json("keys", "create", *options)
    return home.terminal.with_env(
        SEALDESK_API_KEY=key["api_key"], SEALDESK_API_SECRET=key["api_secret"]
    )


def _create(terminal: Terminal, *options: str) -> dict[str, Any]:
    customer = ("--customer-email", "maria@example.test")
    ticket: dict[str, Any] = terminal.json("tickets", "create", *NEW, *customer, *options)
    return ticket


@SQLITE_FIRST
def test_what_is_created_is_changed_answered_and_listed(with_key: Terminal) -> None:
    ticket = _create(with_key, "--tag", "a", "--tag", "ü", "--data", '{"priority": "urgent"}')
    assert (ticket["tags"], ticket["priority"]) == (["a", "ü"], "urgent")
    options = ("--status", "pending", "--data", '{"external_id": "A-1"}')
    changed = with_key.json("tickets", "update", ticket["id"], *options)
    assert (changed["status"], changed["external_id"]) == ("pending", "A-1")
    reply = with_key.json("replies", "create", ticket["id"], "--body", "No", "--internal")
    assert reply["is_internal"] is True
    assert with_key.json("replies", "list", ticket["id"]) == [reply]
    found = with_key.json("tickets", "list", "--status", "open,pending", "-f", "external_id=A-1")
    assert [each["id"] for each in found] == [ticket["id"]]
    assert ticket["id"] in with_key.out("tickets", "get", ticket["id"])
    customer = with_key.json("customers", "list", "--email", "maria@example.test")[0]
    named = with_key.json("customers", "update", customer["id"], "--name", "Maria")
    assert with_key.json("customers", "get", customer["id"])["name"] == named["name"] == "Maria"


@on_a_file
def test_the_same_idempotency_key_opens_one_ticket(with_key: Terminal) -> None:
    first, second = (_create(with_key, "--idempotency-key", "once") for _ in range(2))
    assert first["id"] == second["id"]


@on_a_file
def test_lines_of_json_are_the_rows_of_all_pages(with_key: Terminal) -> None:
    ids = [_create(with_key)["id"] for _ in range(3)]
    options = ("--ndjson", "--limit", "0", "-f", "per_page=2")
    lines = with_key.out("tickets", "list", *options).splitlines()
    assert [json.loads(line)["id"] for line in lines] == ids[::-1]


@on_a_file
def test_a_table_fits_the_terminal_and_shows_no_control_characters(with_key: Terminal) -> None:
    subject = '{"subject": "A\\u001b[31mred\\u202e 日本 ' + "long " * 20 + '"}'
    with_key.out("tickets", "update", _create(with_key)["id"], "--data", subject)
    narrow = with_key.shown("tickets", "list").splitlines()
    assert "Priority" not in narrow[0]
    assert max(map(len, narrow[1:])) <= 80
    assert narrow[1].endswith("…")
    piped = with_key.out("tickets", "list")
    assert "\x1b" not in piped
    assert "\u202e" not in piped
    assert "A\ufffd[31mred" in piped
    assert "long long" in piped
    fields = '{"email": "c@example.test", "metadata": {"\\u009b2J": "\\u009b\\u202e"}}'
    customer = json.loads(with_key.out("customers", "create", "--data", fields, "--json"))
    path = f"/api/v1/external/customers/{customer['id']}"
    for args in (("customers", "get", customer["id"]), ("call", "GET", path)):
        shown = with_key.out(*args)
        assert "\x9b" not in shown and "\u202e" not in shown
    assert json.loads(shown)["data"]["metadata"] == {"\x9b2J": "\x9b\u202e"}


@on_a_file
def test_a_mistake_is_named_in_one_line(with_key: Terminal) -> None:
    mistakes = {
        ("tickets", "list", "-f", "status"): "--filter must have the form NAME=VALUE",
        ("tickets", "list", "-f", "stauts=open"): "Did you mean status?",
        ("tickets", "create"): "no field is given",
        ("tickets", "create", "--data", "[]"): "must be a JSON object",
        ("tickets", "create", "--data", "{"): "--data is not JSON",
        ("tickets", "create", "--subject", "S"): "/customer: This field is required",
        ("tickets", "get", ".."): "sealdesk: an id cannot be '..'",
        ("call", "GET", "/", "-H", "x"): "must have the form 'Name: value'",
        ("tickets", "export", "/"): "/ is a directory",
    }
    for args, words in mistakes.items():
        assert words in with_key.refused(*args)


@on_a_file
def test_an_interrupted_export_continues_and_repeats_nothing(
    with_key: Terminal, tmp_path: Path
) -> None:
    ids = [_create(with_key)["id"] for _ in range(5)]
    file = tmp_path / "tickets.ndjson"
    size = ("-f", "per_page=2")
    with_key.out("tickets", "export", str(file), *size)
    whole = file.read_bytes()
    assert [json.loads(line)["id"] for line in whole.splitlines()] == ids[::-1]
    _interrupt(with_key, file, whole)
    _create(with_key)
    done = with_key.run("tickets", "export", str(file), *size)
    assert "Continuing after 2 rows." in done.stderr
    assert "Exported 5 tickets" in done.stderr
    assert file.read_bytes() == whole
    assert not Path(f"{file}.progress").exists()
    assert "exists already" in with_key.refused("tickets", "export", str(file))
    with_key.out("tickets", "export", str(file), "--restart")
    assert len(file.read_bytes().splitlines()) == 6


def _interrupt(terminal: Terminal, file: Path, whole: bytes) -> None:
    """Leave what an export that was killed in its second page leaves."""
    lines = whole.splitlines(keepends=True)
    page = json.loads(terminal.out("call", "GET", "/api/v1/external/tickets?per_page=2"))
    file.write_bytes(b"".join(lines[:3])[:-5])
    progress = {
        "url": terminal.env["SEALDESK_API_URL"],
        "path": "/api/v1/external/tickets",
        "query": {"per_page": "2"},
        "cursor": page["meta"]["next_cursor"],
        "rows": 2,
        "size_bytes": sum(map(len, lines[:2])),
    }
    Path(f"{file}.progress").write_text(json.dumps(progress))


@on_a_file
@pytest.mark.prove
def test_an_unfinished_export_with_other_filters_is_refused(
    with_key: Terminal, tmp_path: Path
) -> None:
    file = tmp_path / "tickets.ndjson"
    _create(with_key)
    _create(with_key)
    with_key.out("tickets", "export", str(file), "-f", "per_page=2")
    _interrupt(with_key, file, file.read_bytes())
    refused = with_key.refused("tickets", "export", str(file), "--status", "open")
    assert "with other filters" in refused


@on_a_file
def test_a_terminal_shows_the_progress_of_an_export(with_key: Terminal, tmp_path: Path) -> None:
    _create(with_key)
    shown = with_key.shown("tickets", "export", str(tmp_path / "t.ndjson"))
    assert "1 tickets" in shown
    assert "Exported 1 tickets to" in shown
    piped = with_key.run("customers", "export", "-")
    assert json.loads(piped.stdout)["email"] == "maria@example.test"
    assert "\x1b" not in piped.stderr


def test_commands_of_the_service_do_not_load_the_client() -> None:
    code = "import sealdesk.cli.program, sys; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
