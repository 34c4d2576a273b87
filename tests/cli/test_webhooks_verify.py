"""`sealdesk webhooks verify` in a terminal."""

import json
import os
import pty
import re
import subprocess
import time
from pathlib import Path
from typing import get_args

import pytest

from sealdesk.client.webhook_mistakes import MEANINGS
from sealdesk.crypto import webhook_signing
from sealdesk.crypto.webhook_signing import Mistake
from tests.cli.commands import PROGRAM
from tests.cli.terminal import Terminal

SECRET = webhook_signing.mint_secret()
BODY = b'{"id":"0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b","data":{"subject":"Gr\xc3\xbc\xc3\x9fe"}}'
ID = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"


def headers(secret: str = SECRET, age_s: int = 0, body: bytes = BODY) -> dict[str, str]:
    at = int(time.time()) - age_s
    return {
        "webhook-id": ID,
        "webhook-timestamp": str(at),
        "webhook-signature": webhook_signing.sign(webhook_signing.key_of(secret), ID, at, body),
    }


def options(values: dict[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in (f"--{name[8:]}", value)]


@pytest.fixture
def with_secret(empty: Terminal) -> Terminal:
    """A shell with the endpoint's secret, without an installation."""
    return empty.with_env(SEALDESK_WEBHOOK_SECRET=SECRET)


def test_a_webhook_of_sealdesk_is_valid(with_secret: Terminal) -> None:
    done = with_secret.run("webhooks", "verify", *options(headers()), stdin=BODY.decode())
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"✓ valid: signed with this secret, \d+ s ago\n", done.stdout)


def test_a_mistake_is_named_without_the_expected_signature(with_secret: Terminal) -> None:
    values, body = headers(), json.dumps(json.loads(BODY))
    done = with_secret.run("webhooks", "verify", *options(values), stdin=body)
    assert done.returncode == 1
    assert done.stdout.startswith("✗ not valid (body_reserialised): the body was parsed and")
    assert values["webhook-signature"] not in done.stdout + done.stderr
    key = webhook_signing.key_of(SECRET)
    expected = webhook_signing.sign(key, ID, int(values["webhook-timestamp"]), body.encode())
    assert expected not in done.stdout + done.stderr


@pytest.mark.parametrize("as_json", [False, True])
def test_headers_and_body_can_come_from_files(
    empty: Terminal, tmp_path: Path, as_json: bool
) -> None:
    values = headers()
    lines = ["POST /hooks HTTP/1.1", "Host: a.test:80"]
    lines += [f"{name.title()}: {value}" for name, value in values.items()]
    written = json.dumps(values) if as_json else "\r\n".join(lines)
    (tmp_path / "headers").write_text(f"\ufeff{written}")
    (tmp_path / "body").write_bytes(BODY)
    (tmp_path / "secret").write_text(f"\ufeff{SECRET}\n")
    files = [f"--{n}={tmp_path / n.split('-')[0]}" for n in ("headers-file", "body", "secret-file")]
    result = empty.json("webhooks", "verify", *files)
    assert result == {"valid": True, "mistake": None, "meaning": None}


def test_an_old_webhook_is_valid_with_any_age(with_secret: Terminal) -> None:
    values = options(headers(age_s=7200))
    refused = with_secret.run("webhooks", "verify", *values, "--json", stdin=BODY.decode())
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["mistake"] == "timestamp_too_old"
    assert "valid" in with_secret.out(
        "webhooks", "verify", *values, "--any-age", stdin=BODY.decode()
    )


def test_missing_values_are_named(empty: Terminal, with_secret: Terminal, tmp_path: Path) -> None:
    assert "give --headers-file" in with_secret.refused("webhooks", "verify")
    assert "set SEALDESK_WEBHOOK_SECRET" in empty.refused("webhooks", "verify", "--id", "x")
    file = str(tmp_path / "nothing")
    assert "nothing: No such file" in with_secret.refused(
        "webhooks", "verify", "--headers-file", file
    )


def test_the_secret_prompt_does_not_echo(empty: Terminal, tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_bytes(BODY)
    arguments = ["webhooks", "verify", *options(headers()), "--body", str(body)]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, *arguments],
        env=empty.env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        shown = _read_until(ours, "Secret (whsec_…): ")
        os.write(ours, f"{SECRET}\n".encode())
        shown += _read_until(ours, "valid: signed with this secret")
        process.wait(120)
    os.close(ours)
    assert SECRET not in shown


def test_every_mistake_has_a_meaning_in_the_guide() -> None:
    guide = Path("docs/api/webhooks-verifying.md").read_text()
    assert set(MEANINGS) == set(get_args(Mistake))
    result = dict(re.findall(r"^\| `([a-z_0-9]+)` \| (.+) \|$", guide, re.M))
    assert result == MEANINGS


def _read_until(terminal: int, text: str) -> str:
    shown = b""
    while text not in shown.decode("utf-8", "replace"):
        shown += os.read(terminal, 4096)
    return shown.decode()
