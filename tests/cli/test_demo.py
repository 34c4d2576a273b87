import json
import re
import subprocess

import httpx
import pytest

from tests.cli.conftest import Home
from tests.cli.terminal import Terminal, log_in

ADMIN, AGENT = "maya@acme-ceramics.test", "theo@acme-ceramics.test"


def pasted(home: Home, first: str, last: str) -> str:
    """What a shell prints when the told lines between two of them are pasted into it."""
    lines = home.told.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(first))
    end = next(n for n, line in enumerate(lines[begin:], begin) if last in line)
    done = subprocess.run(
        ["sh", "-eu"],
        input="\n".join(lines[begin : end + 1]),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def test_the_request_for_curl_works_as_printed(home: Home) -> None:
    answer = json.loads(pasted(home, "KEY=", 'x-api-signature: $SIGNATURE"'))
    assert [ticket["status"] for ticket in answer["data"]] == ["open"] * 3


def test_the_requests_for_sealdesk_work_as_printed(home: Home) -> None:
    printed = pasted(home, "export SEALDESK_API_URL", " call POST ")
    listed, rest = json.JSONDecoder().raw_decode(printed)
    created = json.loads(printed[rest:])
    assert len(listed["data"]) == 3
    assert created["data"]["subject"] == "Hello"


def test_the_log_in_is_where_it_says(home: Home) -> None:
    found = re.search(r"Pages +(\S+)", home.told)
    assert found is not None
    assert "Log in" in httpx.get(found[1]).text


def test_the_docs_are_where_it_says(home: Home) -> None:
    found = re.search(r"API docs +(\S+)", home.told)
    assert found is not None
    assert httpx.get(found[1]).status_code == 200


@pytest.mark.parametrize("email", [ADMIN, AGENT])
def test_the_log_ins_work(home: Home, email: str) -> None:
    found = re.search(rf"{email} +(\S+)", home.told)
    assert found is not None
    assert log_in(home.served.url, email, found[1]) == 200


def test_a_second_start_keeps_the_data(home: Home) -> None:
    told = home.terminal.out("demo")
    assert "its data is kept" in told
    assert f"users set-password {ADMIN}" in told


def test_a_second_start_says_how_to_get_a_new_secret(installed: Terminal) -> None:
    installed.out("demo")
    rotation = re.search(r"SEALDESK_DATA_DIR=.* keys rotate \S+", installed.out("demo"))
    assert rotation is not None
    done = subprocess.run(
        ["sh", "-c", rotation[0]], capture_output=True, text=True, check=True, timeout=60
    )
    assert re.search(r"SEALDESK_API_SECRET=[0-9a-f]{64}\n", done.stdout)
