import json
import re
import subprocess

import httpx
import pytest

from tests.cli.fixtures import Home
from tests.cli.terminal import Terminal, log_in
from tests.support.databases import SQLITE_FIRST

ADMIN, AGENT = "maya@acme-ceramics.test", "theo@acme-ceramics.test"


def run_printed_commands(home: Home, first: str, last: str) -> str:
    """Run the printed lines from `first` to `last` in a shell; return its output."""
    lines = home.demo_output.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(first))
    end = next(n for n, line in enumerate(lines[begin:], begin) if last in line)
    done = subprocess.run(
        ["sh", "-eu"],
        input="\n".join(lines[begin : end + 1]),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout


def test_the_printed_curl_commands_work(home: Home) -> None:
    answer = json.loads(run_printed_commands(home, "KEY=", 'x-api-signature: $SIGNATURE"'))
    assert [ticket["status"] for ticket in answer["data"]] == ["open"] * 3


@SQLITE_FIRST
def test_the_printed_sealdesk_commands_work(home: Home) -> None:
    output = run_printed_commands(home, "export SEALDESK_API_URL", " call POST ")
    listed, rest = json.JSONDecoder().raw_decode(output)
    created = json.loads(output[rest:])
    assert len(listed["data"]) == 3
    assert created["data"]["subject"] == "Hello"


def test_the_printed_url_of_the_pages_shows_the_log_in(home: Home) -> None:
    match = re.search(r"Pages +(\S+)", home.demo_output)
    assert match is not None
    assert "Log in" in httpx.get(match[1], timeout=60).text


def test_the_printed_url_of_the_docs_works(home: Home) -> None:
    match = re.search(r"API docs +(\S+)", home.demo_output)
    assert match is not None
    assert httpx.get(match[1], timeout=60).status_code == 200


@SQLITE_FIRST
@pytest.mark.parametrize("email", [ADMIN, AGENT])
def test_the_printed_passwords_work(home: Home, email: str) -> None:
    match = re.search(rf"{email} +(\S+)", home.demo_output)
    assert match is not None
    assert log_in(home.served.url, email, match[1]) == 200


def test_a_second_run_keeps_the_data(home: Home) -> None:
    demo_output = home.terminal.out("demo")
    assert "its data is kept" in demo_output
    assert f"users set-password {ADMIN}" in demo_output


@pytest.mark.prove
def test_a_second_run_prints_the_command_for_a_new_secret(installed: Terminal) -> None:
    installed.out("demo")
    rotation = re.search(r"SEALDESK_DATA_DIR=.* keys rotate \S+", installed.out("demo"))
    assert rotation is not None
    done = subprocess.run(
        ["sh", "-c", rotation[0]], capture_output=True, text=True, check=True, timeout=300
    )
    assert re.search(r"SEALDESK_API_SECRET=[0-9a-f]{64}\n", done.stdout)
