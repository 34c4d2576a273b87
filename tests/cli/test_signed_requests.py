import json
from pathlib import Path

import pytest

from sealdesk.crypto.signing import Signed, is_valid
from tests.cli.fixtures import Home
from tests.cli.terminal import Terminal

# The commands ask the API, and no database.
TICKETS = "/api/v1/external/tickets"
TICKET = {"subject": "Hi", "description": "There", "customer": {"email": "me@example.test"}}
VECTORS = json.loads(Path("tests/vectors/signatures.json").read_text())


@pytest.fixture(scope="session")
def with_key(home: Home, acme: str) -> Terminal:
    """A shell with an API key of the tenant Acme."""
    key = home.terminal.json("keys", "create", "--tenant", acme, "--name", "Terminal")
    return home.terminal.with_env(
        SEALDESK_API_KEY=key["api_key"], SEALDESK_API_SECRET=key["api_secret"]
    )


def test_a_call_prints_the_status_apart_from_the_body(with_key: Terminal) -> None:
    result = with_key.run("call", "GET", f"{TICKETS}?per_page=1&status=open")
    assert (result.returncode, result.stderr) == (0, "200 OK\n")
    assert json.loads(result.stdout)["meta"]["per_page"] == 1
    typo = with_key.run("call", "POST", TICKETS, "-d", json.dumps({**TICKET, "prority": "high"}))
    assert typo.stderr == "201 Created\nx-warnings: unknown_field=/prority\n"


def test_a_ticket_posted_from_a_file_is_listed(with_key: Terminal, tmp_path: Path) -> None:
    body = tmp_path / "ticket.json"
    body.write_text(json.dumps({**TICKET, "subject": "Ünïcode from a file"}))
    posted = json.loads(with_key.out("call", "post", TICKETS, "--data", f"@{body}"))
    listed = json.loads(with_key.out("call", "GET", TICKETS))
    assert posted["data"] in listed["data"]


def test_a_body_can_come_from_stdin_with_further_headers(with_key: Terminal) -> None:
    options = ("--data", "@-", "-H", "Idempotency-Key: once", "-i")
    answers = [
        with_key.run("call", "POST", TICKETS, *options, stdin=json.dumps(TICKET)) for _ in range(2)
    ]
    assert answers[0].stdout == answers[1].stdout
    assert "idempotent-replayed: true" in answers[1].stderr.lower()


def test_the_target_is_sent_byte_for_byte(with_key: Terminal) -> None:
    result = with_key.run("call", "GET", f"{TICKETS}/%2e%2E/x?tag=%C3%a9+b&&tag=//")
    assert (result.returncode, result.stderr) == (1, "404 Not Found\n")
    second = with_key.run("call", "GET", f"{TICKETS}?tag=%c3%A9+b")
    assert (second.returncode, second.stderr) == (0, "200 OK\n")


@pytest.mark.parametrize("path", ["tickets", "/tickets?q=a b", "/tickets?q=é"])
def test_a_path_that_cannot_be_sent_is_refused(with_key: Terminal, path: str) -> None:
    assert "percent-encoded" in with_key.refused("call", "GET", path)


def test_a_missing_key_is_named(home: Home) -> None:
    assert "SEALDESK_API_KEY is not set" in home.terminal.refused("call", "GET", "/")


def test_an_unreachable_service_is_named(with_key: Terminal) -> None:
    away = with_key.with_env(SEALDESK_API_URL="http://127.0.0.1:9")
    assert "no response from http://127.0.0.1:9" in away.refused("call", "GET", "/")


def test_sign_shows_the_parts_of_a_known_signature(with_key: Terminal) -> None:
    vector = next(v for v in VECTORS["valid"] if v["method"] == "POST")
    known = with_key.with_env(SEALDESK_API_URL="", SEALDESK_API_SECRET=VECTORS["api_secret"])
    options = ("--data", vector["body_utf8"], "--timestamp", str(VECTORS["timestamp"]))
    parts = known.json("sign", vector["method"], vector["request_target"], *options)
    shown = {name: parts[name] for name in ("body_sha256", "message", "signature")}
    assert shown == {name: vector[name] for name in shown}


def test_sign_uses_the_current_time_by_default(with_key: Terminal) -> None:
    parts = with_key.json("sign", "GET", TICKETS)
    signed = Signed(parts["timestamp"].encode(), b"GET", TICKETS.encode(), b"")
    assert parts["message"].startswith(f"{parts['timestamp']}GET{TICKETS}")
    secret = with_key.env["SEALDESK_API_SECRET"]
    assert is_valid(secret, signed, parts["headers"]["x-api-signature"].encode())
