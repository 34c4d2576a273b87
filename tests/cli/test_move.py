"""`sealdesk move`: everything is there afterwards, whatever happens on the way."""

import json
import random
import re
import secrets
import shlex
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.cli.moving import MANY, add_many, dump
from tests.cli.terminal import PROGRAM, Terminal, serving
from tests.servers import free_port, run_postgres
from tests.support.databases import Template

_END_SESSION = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'sealdesk move' AND datname = current_database()
"""
# A dozen commands each, of which every one starts Python and some a migration too.
pytestmark = pytest.mark.timeout(240)
TICKETS = "/api/v1/external/tickets"
ADMIN = "maya@acme-ceramics.test"


@pytest.fixture(scope="session")
def told_of_demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data directory with the demo, to copy, and what `sealdesk demo` told of it."""
    path = tmp_path_factory.mktemp("demo") / "data"
    return path, Terminal(path).out("demo")


@pytest.fixture
def source(told_of_demo: tuple[Path, str], tmp_path: Path) -> Terminal:
    """A shell with an installation on SQLite that holds the demo."""
    shutil.copytree(told_of_demo[0], tmp_path / "data")
    return Terminal(tmp_path / "data")


@pytest.fixture
def urls(postgres_template: Template) -> Iterator[dict[str, str]]:
    """The settings for a new PostgreSQL database without tables."""
    with new_urls(postgres_template) as env:
        yield env


@pytest.fixture
def owner_url(urls: dict[str, str]) -> str:
    return urls["SEALDESK_OWNER_DATABASE_URL"]


@contextmanager
def new_urls(template: Template) -> Iterator[dict[str, str]]:
    """The settings for a new PostgreSQL database without tables, which is dropped in the end."""
    name = f"move_{secrets.token_hex(6)}"
    template.access.create_database(name)
    try:
        env = template.env(name)
        yield {key: url for key, url in env.items() if key.endswith("_URL")}
    finally:
        template.access.drop_database(name)


class Moved(NamedTuple):
    """An installation on SQLite that was moved, the settings of where it went, and what a
    terminal saw.
    """

    source: Terminal
    urls: dict[str, str]
    seen: str

    @property
    def owner_url(self) -> str:
        return self.urls["SEALDESK_OWNER_DATABASE_URL"]


@pytest.fixture(scope="module")
def moved(
    told_of_demo: tuple[Path, str],
    postgres_template: Template,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Moved]:
    """An installation that was moved once; tests of what is refused share it."""
    path = tmp_path_factory.mktemp("moved") / "data"
    shutil.copytree(told_of_demo[0], path)
    with new_urls(postgres_template) as env:
        source = Terminal(path)
        arguments = (
            "--to",
            env["SEALDESK_OWNER_DATABASE_URL"],
            "--from",
            f"sqlite:///{path}/sealdesk.db",
        )
        command = shlex.join([str(PROGRAM), "move", *arguments])
        done = subprocess.run(
            ["script", "-qec", command, "/dev/null"],
            env={**source.with_env(**env).env, "TERM": "xterm"},
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        yield Moved(source, env, done.stdout)


def file_of(terminal: Terminal) -> Path:
    return terminal.data_dir / "sealdesk.db"


def after_move(source: Terminal, urls: dict[str, str]) -> Terminal:
    """A shell with the settings that the move tells to set."""
    keys = {
        "SEALDESK_MASTER_KEY": (source.data_dir / "master.key").read_text().strip(),
        "SEALDESK_JWT_SECRET": (source.data_dir / "jwt.key").read_text().strip(),
    }
    return Terminal(source.data_dir.with_name("elsewhere")).with_env(**urls, **keys)


def sql(urls: dict[str, str], statement: str) -> list[str]:
    """The superuser's answer."""
    name = urls["SEALDESK_OWNER_DATABASE_URL"].rpartition("/")[2]
    return run_postgres().sql(statement, name)


def begun(terminal: Terminal, *args: str) -> subprocess.Popen[str]:
    """A move that has read its source and now copies."""
    # Whoever runs the tests in the background has SIGINT ignored, which children inherit.
    process = subprocess.Popen(
        ["env", "--default-signal=INT", PROGRAM, "move", *args],
        env=terminal.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    first = process.stderr.readline()
    assert first.startswith("read: "), first
    return process


def ended(process: subprocess.Popen[str], number: signal.Signals | None = None) -> tuple[int, str]:
    """Signal a process, or wait for it; its exit code and what it still said."""
    if number is not None:
        process.send_signal(number)
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    return process.wait(20), said


def wait_for_more(urls: dict[str, str], held: int) -> int:
    """Wait until the target holds more events; how many."""
    deadline = time.monotonic() + 20
    while (now := int(sql(urls, "SELECT count(*) FROM events")[0])) <= held:
        assert time.monotonic() < deadline, f"it stays at {held} rows"
    return now


class Client:
    """Who signs with the demo's key, and is logged in as its administrator."""

    def __init__(self, terminal: Terminal, url: str, told: str) -> None:
        found = re.search(r"API key +(\S+)\n +Secret +(\S+)", told)
        assert found is not None
        self.url = url
        self._terminal = terminal.with_env(
            SEALDESK_API_URL=url, SEALDESK_API_KEY=found[1], SEALDESK_API_SECRET=found[2]
        )

    def call(self, *args: str) -> Any:
        return json.loads(self._terminal.out("call", *args))

    def new_ticket(self) -> Any:
        new = {"subject": "Twice", "description": "Once", "customer": {"email": "bo@shop.test"}}
        once = ("--header", "Idempotency-Key: order-7")
        return self.call("POST", TICKETS, "--data", json.dumps(new), *once)["data"]

    def me(self, token: str) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.get(f"{self.url}/api/v1/auth/me", headers=headers).json()


def log_in(url: str, told: str) -> str:
    password = re.search(rf"{ADMIN} +(\S+)", told)
    assert password is not None
    body = {"email": ADMIN, "password": password[1]}
    answer = httpx.post(f"{url}/api/v1/auth/login", json=body)
    return str(answer.json()["data"]["access_token"])


def test_keys_secrets_cursors_and_log_ins_go_on_working(
    source: Terminal, urls: dict[str, str], owner_url: str, told_of_demo: tuple[Path, str]
) -> None:
    told = told_of_demo[1]
    with serving(source) as served:
        client = Client(source, served.url, told)
        ticket = client.new_ticket()
        page = client.call("GET", f"{TICKETS}?per_page=5")
        behind = f"{TICKETS}?per_page=5&cursor={page['meta']['next_cursor']}"
        second = client.call("GET", behind)["data"]
        token = log_in(served.url, told)
        me = client.me(token)
    source.with_env(**urls).out("move", "--to", owner_url, "--from", f"sqlite:///{file_of(source)}")
    moved = after_move(source, urls)
    with serving(moved) as served:
        client = Client(moved, served.url, told)
        assert client.call("GET", behind)["data"] == second
        assert client.new_ticket() == ticket
        assert client.me(token) == me
        assert client.me(log_in(served.url, told)) == me
        another = client.call("POST", TICKETS, "--data", json.dumps({
            "subject": "Next", "description": "One more", "customer": {"email": "bo@shop.test"},
        }))["data"]  # fmt: skip
        assert another["number"] == ticket["number"] + 1
    # And back, with what was written meanwhile.
    back = source.data_dir.with_name("back.db")
    moved.out("move", "--to", f"sqlite:///{back}")
    with serving(moved.with_env(SEALDESK_DATABASE_URL=f"sqlite:///{back}")) as served:
        client = Client(moved, served.url, told)
        assert client.call("GET", behind)["data"] == second
        assert (
            client.call("GET", f"{TICKETS}/{another['id']}")["data"]["number"] == another["number"]
        )


def test_killed_moves_go_on_and_both_ways_end_in_the_same_rows(
    source: Terminal, urls: dict[str, str], owner_url: str
) -> None:
    add_many(file_of(source))
    before = dump(file_of(source))
    held = 0
    for _ in range(2):
        process = begun(source, "--to", owner_url)
        held = wait_for_more(urls, held)
        time.sleep(random.uniform(0.0, 0.05))
        assert ended(process, signal.SIGKILL)[0] == -signal.SIGKILL
        assert held < MANY, "killed too late to show anything"
    process = begun(source, "--to", owner_url)
    sql(urls, _END_SESSION)
    code, said = ended(process)
    last = said.splitlines()[-1]
    assert (code, "Traceback" in said) == (1, False), said
    assert last.startswith("sealdesk: postgresql://owner@")
    assert last.endswith("; when that is mended, the same command goes on")
    assert "same" in source.out("move", "--to", owner_url)
    assert dump(file_of(source)) == before
    back = source.data_dir / "back.db"
    arguments = ("--from", owner_url, "--to", f"sqlite:///{back}")
    for _ in range(2):
        process = begun(source, *arguments)
        time.sleep(random.uniform(0.0, 0.1))
        assert ended(process, signal.SIGKILL)[0] == -signal.SIGKILL
        assert not back.exists()
    source.out("move", *arguments)
    assert [path.name for path in source.data_dir.glob("back*")] == ["back.db"]
    assert back.stat().st_mode & 0o077 == 0
    assert dump(back) == before


def test_ctrl_c_says_how_to_go_on_and_an_unfinished_target_is_not_served(
    source: Terminal, urls: dict[str, str], owner_url: str
) -> None:
    add_many(file_of(source))
    move = ("move", "--to", owner_url)
    whence = ("--from", f"sqlite:///{file_of(source)}")
    code, said = ended(begun(source.with_env(**urls), *move[1:], *whence), signal.SIGINT)
    assert (code, "run the same command again" in said) == (130, True)
    served = after_move(source, urls)
    assert "holds an unfinished move; give the same `sealdesk move`" in served.refused("serve")
    assert "holds an unfinished move" in served.refused("tenants", "list")
    with closing(sqlite3.connect(file_of(source))) as connection, connection:
        connection.execute("DELETE FROM replies WHERE id = (SELECT min(id) FROM replies)")
    assert "of this one before it changed" in source.run(*move).stderr
    source.out(*move, "--restart")
    assert "Acme" in served.out("tenants", "list")


def test_a_row_that_differs_is_found_and_named(
    source: Terminal, urls: dict[str, str], owner_url: str
) -> None:
    add_many(file_of(source))
    process = begun(source, "--to", owner_url)
    wait_for_more(urls, 0)
    assert ended(process, signal.SIGKILL)[0] == -signal.SIGKILL
    changed = "UPDATE events SET changes = '{}' WHERE id = '00000007' RETURNING tenant_id"
    (tenant_id,) = sql(urls, changed)
    done = source.run("move", "--to", owner_url)
    assert (done.returncode, done.stdout) == (1, "")
    told = f"events differs between source and target, first in the row {tenant_id} 00000007."
    assert told in done.stderr.splitlines()[-1]
    assert "unfinished move" in after_move(source, urls).refused("serve")


def test_a_terminal_sees_a_bar_for_each_table_and_what_comes_next(moved: Moved) -> None:
    assert re.search(r"copy tickets .*320 of 320 .*rows/s", moved.seen)
    assert re.search(r"check: [\d,]+ rows in .* s, [\d,]+ rows/s", moved.seen)
    assert re.search(r"tickets +320 +same", moved.seen)
    assert f'SEALDESK_MASTER_KEY="$(cat {moved.source.data_dir}/master.key)"' in moved.seen


def test_a_target_with_data_is_refused(moved: Moved) -> None:
    done = moved.source.run("move", "--to", moved.owner_url)
    assert "the target holds data already (in " in done.stderr.splitlines()[-1]
    assert done.returncode == 1
    taken = f"sqlite:///{file_of(moved.source)}"
    refusal = moved.source.refused("move", "--from", moved.owner_url, "--to", taken)
    assert "is there already" in refusal


def test_a_database_of_something_else_is_refused(
    source: Terminal, urls: dict[str, str], owner_url: str
) -> None:
    sql(urls, "CREATE TABLE songs (title text)")
    assert "holds something else (songs)" in source.refused("move", "--to", owner_url)
    assert sql(urls, "SELECT to_regclass('tenants') IS NULL") == ["t"]


def test_nothing_is_moved_while_it_is_served(moved: Moved) -> None:
    with serving(moved.source):
        refusal = moved.source.refused("move", "--to", moved.owner_url)
    assert "another `sealdesk serve` uses" in refusal
    with serving(after_move(moved.source, moved.urls)) as served:
        assert httpx.get(f"{served.url}/readyz").status_code == 200
        back = ("--from", moved.owner_url, "--to", f"sqlite:///{moved.source.data_dir}/back.db")
        refusal = moved.source.refused("move", *back)
    assert "is in use by sealdesk serve as " in refusal


def test_a_row_that_postgresql_cannot_hold_is_named(source: Terminal, owner_url: str) -> None:
    with closing(sqlite3.connect(file_of(source))) as connection, connection:
        connection.execute("UPDATE customers SET company = 'a' || char(0) || 'b' WHERE id IN"
                           " (SELECT max(id) FROM customers)")  # fmt: skip
        (key,) = connection.execute("SELECT tenant_id || ' ' || max(id) FROM customers").fetchone()
    told = source.run("move", "--to", owner_url).stderr.splitlines()[-1]
    assert f"in the row {key}, company holds the character U+0000" in told


def test_a_role_from_which_rows_are_hidden_is_refused(moved: Moved) -> None:
    back = moved.source.data_dir / "hidden.db"
    runtime = moved.urls["SEALDESK_DATABASE_URL"]
    refusal = moved.source.refused("move", "--from", runtime, "--to", f"sqlite:///{back}")
    assert "may hide rows of" in refusal
    assert not back.exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda url: re.sub(r":\d+/", f":{free_port()}/", url), "cannot be reached"),
        (lambda url: re.sub(r":[^:@]+@", ":wrong@", url), "does not let the role in"),
        (lambda url: url + "_not", "does not exist; create it with createdb"),
    ],
    ids=["unreachable", "wrong password", "no database"],
)
def test_a_target_that_cannot_be_used_is_one_line(
    source: Terminal, owner_url: str, change: Any, told: str
) -> None:
    refusal = source.refused("move", "--to", change(owner_url))
    assert told in refusal
    assert ":wrong@" not in refusal


def test_too_few_rights_are_one_line(source: Terminal, urls: dict[str, str]) -> None:
    refusal = source.refused("move", "--to", urls["SEALDESK_DATABASE_URL"])
    assert "permission denied for schema public" in refusal


@pytest.mark.parametrize(
    "arguments",
    [
        ("--to", "mysql://host/x"),
        ("--to", "sqlite:///"),
        ("--to", "sqlite:///x", "--from", "sqlite:///y"),
    ],
)
def test_urls_of_another_kind_are_refused(source: Terminal, arguments: tuple[str, ...]) -> None:
    source.refused("move", *arguments, code=2)


def test_what_is_not_there_is_not_made(empty: Terminal, owner_url: str) -> None:
    assert "there is no installation in" in empty.refused("move", "--to", owner_url)
    assert not empty.data_dir.exists()
