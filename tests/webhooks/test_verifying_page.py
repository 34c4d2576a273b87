"""The programs of docs/api/webhooks-verifying.md receive real webhooks, as they stand there."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.interop import NODE, packages
from tests.servers import free_port
from tests.support.client import Key, Person
from tests.support.receiver import Got, Receiver
from tests.support.service import wait_until
from tests.webhooks.factories import WEBHOOKS, made

# Receivers do not depend on the database of the sender.
pytestmark = pytest.mark.parametrize("kind", ["sqlite"], indirect=True, scope="session")
PAGE = Path("docs/api/webhooks-verifying.md").read_text()


def programs(language: str) -> list[str]:
    """The programs of the page in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


class Program:
    """A running receiver of the page. lines: its output."""

    def __init__(self, port: int, output: Path) -> None:
        self.url = f"http://127.0.0.1:{port}/hooks"
        self._output = output

    @property
    def lines(self) -> list[str]:
        return self._output.read_text().splitlines()

    def answers(self) -> bool:
        try:
            return httpx.post(self.url, timeout=60).status_code == 400
        except httpx.ConnectError:
            return False


@contextmanager
def started(command: list[str], secret: str, tmp_path: Path, cwd: Path) -> Iterator[Program]:
    port, output = free_port(), tmp_path / "output"
    env = {"PATH": os.environ["PATH"], "PORT": str(port), "SEALDESK_WEBHOOK_SECRET": secret}
    with output.open("w") as file:
        process = subprocess.Popen(
            command, env=env, cwd=cwd, stdout=file, stderr=subprocess.DEVNULL
        )
    try:
        program = Program(port, output)
        wait_until(program.answers)
        yield program
    finally:
        process.kill()
        process.wait(120)


@pytest.fixture(params=["python", "node"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def command(language: str) -> tuple[list[str], Path]:
    """The command of the receiver in this language, and its working directory."""
    if language == "python":
        return [sys.executable, "-W", "error", "-c", programs("python")[0]], Path.cwd()
    return [str(NODE), "--input-type=module", "--eval", programs("js")[0]], packages()


def test_documented_receivers_accept_a_genuine_webhook_once(
    key: Key, admin: Person, receiver: Receiver, language: str, tmp_path: Path
) -> None:
    endpoint = made(admin, receiver)
    words, cwd = command(language)
    with started(words, endpoint["secret"], tmp_path, cwd) as program:
        admin.patch(f"{WEBHOOKS}/{endpoint['id']}", {"url": program.url})
        ids = [key.ticket(subject="Grüße, 日本")["id"] for _ in range(2)]
        wait_until(lambda: len(program.lines) == 2)
        assert set(program.lines) == {f"ticket.created {id}" for id in ids}
        log = f"{WEBHOOKS}/{endpoint['id']}/deliveries"
        wait_until(lambda: _statuses(admin, log) == ["succeeded"] * 2)
        delivery = admin.get(log).json()["data"][0]["id"]
        again = admin.post(f"{log}/{delivery}/redeliver")
        assert again.is_success, again.text
        wait_until(lambda: admin.get(log).json()["data"][0]["attempt_count"] == 2)
        assert _statuses(admin, log) == ["succeeded"] * 2
        assert len(program.lines) == 2


def _statuses(admin: Person, log: str) -> list[str]:
    return [delivery["status"] for delivery in admin.get(log).json()["data"]]


@pytest.fixture
def got(key: Key, admin: Person, receiver: Receiver) -> tuple[str, Got]:
    """The secret of an endpoint, and a webhook that it received."""
    secret = made(admin, receiver)["secret"]
    key.ticket(subject="Grüße, 日本")
    return secret, receiver.wait(1)[0]


def test_documented_function_verifies_webhooks(
    got: tuple[str, Got], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, one = got
    monkeypatch.setenv("SEALDESK_WEBHOOK_SECRET", secret)
    page: dict[str, object] = {}
    exec(programs("python")[1], page)  # noqa: S102
    is_genuine = page["is_genuine"]
    assert callable(is_genuine)
    assert is_genuine(one.headers, one.body)
    assert not is_genuine(one.headers, one.body + b" ")
    old = {**one.headers, "webhook-timestamp": str(int(one.headers["webhook-timestamp"]) - 301)}
    assert not is_genuine(old, one.body)
    other = f"v1,AAAA {one.headers['webhook-signature']}"
    assert is_genuine({**one.headers, "webhook-signature": other}, one.body)


@pytest.mark.parametrize(("added", "said"), [(b"", "genuine\n"), (b"\n", "not\n")])
def test_documented_shell_commands_verify_webhooks(
    got: tuple[str, Got], tmp_path: Path, added: bytes, said: str
) -> None:
    secret, one = got
    (tmp_path / "body.json").write_bytes(one.body + added)
    named = {n: one.headers[f"webhook-{n.lower()}"] for n in ("ID", "TIMESTAMP", "SIGNATURE")}
    env = {"PATH": os.environ["PATH"], "SEALDESK_WEBHOOK_SECRET": secret, **named}
    done = subprocess.run(
        ["sh", "-eu", "-c", programs("sh")[0]],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (said, "")
