"""`sealdesk move` copies every row, also after interruptions."""

import json
import re
import secrets
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.cli.commands import PIPE, Command, start_command
from tests.cli.terminal import Terminal, serving
from tests.sealdesk_move.moving import MANY, add_many, dump
from tests.servers import free_port, run_postgres
from tests.support.databases import Template
from tests.support.service import wait_until

_END_SESSION = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'sealdesk move' AND datname = current_database()
"""
_END_OF_LOG = "SELECT position FROM log_positions WHERE name = 'sequencer'"
_WAITING_EVENTS = """
INSERT INTO event_outbox (tenant_id, id, type, object, changes, created_at)
SELECT (SELECT min(id) FROM tenants), w.id, 'ticket.created', x'7b7d', '{}', 1
FROM (SELECT 'w1' AS id UNION SELECT 'w2' UNION SELECT 'w3') w
"""
_LAST_OF_FEED = """
SELECT e.id, e.position, f.last_position FROM events e
JOIN feed_positions f ON f.tenant_id = e.tenant_id
WHERE e.id LIKE 'w%' ORDER BY e.position DESC
"""
TICKETS = "/api/v1/external/tickets"
ADMIN = "maya@acme-ceramics.test"


@pytest.fixture(scope="session")
def demo_source(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data directory with the demo, to copy, and the output of `sealdesk demo`."""
    path = tmp_path_factory.mktemp("demo") / "data"
    return path, Terminal(path).out("demo")


@pytest.fixture
def source(demo_source: tuple[Path, str], tmp_path: Path) -> Terminal:
    """A shell with an installation on SQLite that contains the demo."""
    shutil.copytree(demo_source[0], tmp_path / "data")
    return Terminal(tmp_path / "data")


@pytest.fixture
def urls(postgres_template: Template) -> Iterator[dict[str, str]]:
    """The settings for a new PostgreSQL database without tables."""
    with new_urls(postgres_template) as env:
        yield env


@pytest.fixture
def prepared_urls(postgres_template: Template) -> Iterator[dict[str, str]]:
    """The settings for a new PostgreSQL database with the tables, which are empty."""
    with postgres_template.copied() as env:
        yield {key: url for key, url in env.items() if key.endswith("_URL")}


@pytest.fixture
def owner_url(urls: dict[str, str]) -> str:
    return urls["SEALDESK_OWNER_DATABASE_URL"]


@contextmanager
def new_urls(template: Template) -> Iterator[dict[str, str]]:
    """The settings for a new PostgreSQL database without tables, which is dropped at the end."""
    name = f"move_{secrets.token_hex(6)}"
    template.access.create_database(name)
    try:
        env = template.env(name)
        yield {key: url for key, url in env.items() if key.endswith("_URL")}
    finally:
        template.access.drop_database(name)


class Moved(NamedTuple):
    """A moved SQLite installation, the settings of the target, and the terminal output."""

    source: Terminal
    urls: dict[str, str]
    seen: str

    @property
    def owner_url(self) -> str:
        return self.urls["SEALDESK_OWNER_DATABASE_URL"]


@pytest.fixture(scope="module")
def moved(
    demo_source: tuple[Path, str],
    postgres_template: Template,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Moved]:
    """A moved installation, which the tests of refusals share."""
    path = tmp_path_factory.mktemp("moved") / "data"
    shutil.copytree(demo_source[0], path)
    with new_urls(postgres_template) as env:
        source = Terminal(path)
        arguments = (
            "--to",
            env["SEALDESK_OWNER_DATABASE_URL"],
            "--from",
            f"sqlite:///{file_of(source)}",
        )
        yield Moved(source, env, source.with_env(**env).shown("move", *arguments))


def file_of(terminal: Terminal) -> Path:
    return terminal.data_dir / "sealdesk.db"


def after_move(source: Terminal, urls: dict[str, str]) -> Terminal:
    """Return a shell with the settings that the move prints."""
    keys = {
        "SEALDESK_MASTER_KEY": (source.data_dir / "master.key").read_text().strip(),
        "SEALDESK_JWT_SECRET": (source.data_dir / "jwt.key").read_text().strip(),
    }
    return Terminal(source.data_dir.with_name("elsewhere")).with_env(**urls, **keys)


def sql(urls: dict[str, str], statement: str) -> list[str]:
    """Run a statement as superuser; return the rows."""
    name = urls["SEALDESK_OWNER_DATABASE_URL"].rpartition("/")[2]
    return run_postgres().sql(statement, name)


def start_move(terminal: Terminal, *args: str) -> Command:
    """Start a move and wait until it copies."""
    process = start_command("move", *args, env=terminal.env, stderr=PIPE)
    assert process.stderr is not None
    first = process.stderr.readline()
    assert first.startswith("read: "), first
    return process


def end_process(process: Command, number: signal.Signals | None = None) -> tuple[int, str]:
    """Signal a process and wait for its end; return its exit code and remaining output."""
    if number is not None:
        process.send_signal(number)
    assert process.stderr is not None
    remaining_output = process.stderr.read()
    process.stderr.close()
    return process.wait(120), remaining_output


def hold_after(urls: dict[str, str], count: int) -> None:
    """Let no further event in once the target has this many, so that no move is over too early."""
    test = f"IF (SELECT count(*) FROM events) >= {count} THEN PERFORM pg_sleep(600); END IF"
    sql(
        urls,
        "CREATE OR REPLACE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN {test}; RETURN NULL; END $$;"
        " CREATE OR REPLACE TRIGGER hold BEFORE INSERT ON events EXECUTE FUNCTION hold()",
    )


def let_go(urls: dict[str, str]) -> None:
    sql(urls, "DROP FUNCTION hold() CASCADE")


def move_a_part(source: Terminal, urls: dict[str, str], held: int = 0) -> Command:
    """Start a move that copies some events more than those that the target has, and no others."""
    hold_after(urls, held + 1)
    process = start_move(source, "--to", urls["SEALDESK_OWNER_DATABASE_URL"])
    wait_until(lambda: count_events(urls) > held)
    return process


def count_events(urls: dict[str, str]) -> int:
    return int(sql(urls, "SELECT count(*) FROM events")[0])


def kill(process: Command, urls: dict[str, str]) -> None:
    """Kill a move, and end its session, which would wait for long."""
    assert end_process(process, signal.SIGKILL)[0] == -signal.SIGKILL
    sql(urls, _END_SESSION)


class Client:
    """A client with the demo's API key, and with an access token of its administrator."""

    def __init__(self, terminal: Terminal, url: str, demo_output: str) -> None:
        found = re.search(r"API key +(\S+)\n +Secret +(\S+)", demo_output)
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
        return httpx.get(f"{self.url}/api/v1/auth/me", headers=headers, timeout=60).json()


def log_in(url: str, demo_output: str) -> str:
    password = re.search(rf"{ADMIN} +(\S+)", demo_output)
    assert password is not None
    body = {"email": ADMIN, "password": password[1]}
    answer = httpx.post(f"{url}/api/v1/auth/login", json=body, timeout=60)
    return str(answer.json()["data"]["access_token"])


def test_keys_secrets_cursors_and_sessions_stay_valid(
    source: Terminal, prepared_urls: dict[str, str], demo_source: tuple[Path, str]
) -> None:
    demo_output, urls = demo_source[1], prepared_urls
    owner_url = urls["SEALDESK_OWNER_DATABASE_URL"]
    with serving(source) as served:
        client = Client(source, served.url, demo_output)
        ticket = client.new_ticket()
        page = client.call("GET", f"{TICKETS}?per_page=5")
        behind = f"{TICKETS}?per_page=5&cursor={page['meta']['next_cursor']}"
        second = client.call("GET", behind)["data"]
        token = log_in(served.url, demo_output)
        me = client.me(token)
    source.with_env(**urls).out("move", "--to", owner_url, "--from", f"sqlite:///{file_of(source)}")
    moved = after_move(source, urls)
    with serving(moved) as served:
        client = Client(moved, served.url, demo_output)
        assert client.call("GET", behind)["data"] == second
        assert client.new_ticket() == ticket
        assert client.me(token) == me
        assert client.me(log_in(served.url, demo_output)) == me
        another = client.call("POST", TICKETS, "--data", json.dumps({
            "subject": "Next", "description": "One more", "customer": {"email": "bo@shop.test"},
        }))["data"]  # fmt: skip
        assert another["number"] == ticket["number"] + 1
    # Move back, with the rows written in between.
    back = source.data_dir.with_name("back.db")
    moved.out("move", "--to", f"sqlite:///{back}")
    with serving(moved.with_env(SEALDESK_DATABASE_URL=f"sqlite:///{back}")) as served:
        client = Client(moved, served.url, demo_output)
        assert client.call("GET", behind)["data"] == second
        assert (
            client.call("GET", f"{TICKETS}/{another['id']}")["data"]["number"] == another["number"]
        )


@pytest.mark.prove
def test_killed_moves_continue_and_both_directions_copy_every_row(
    source: Terminal, prepared_urls: dict[str, str]
) -> None:
    urls, owner_url = prepared_urls, prepared_urls["SEALDESK_OWNER_DATABASE_URL"]
    add_many(file_of(source))
    before = dump(file_of(source))
    for _ in range(2):
        kill(move_a_part(source, urls, count_events(urls)), urls)
    process = move_a_part(source, urls, count_events(urls))
    sql(urls, _END_SESSION)
    code, remaining_output = end_process(process)
    last = remaining_output.splitlines()[-1]
    assert (code, "Traceback" in remaining_output) == (1, False), remaining_output
    assert last.startswith("sealdesk: postgresql://owner@")
    assert last.endswith("; when that is mended, the same command goes on")
    assert 0 < count_events(urls) < MANY
    let_go(urls)
    assert "same" in source.out("move", "--to", owner_url)
    assert dump(file_of(source)) == before
    back = source.data_dir / "back.db"
    arguments = ("--from", owner_url, "--to", f"sqlite:///{back}")
    for _ in range(2):
        end_process(start_move(source, *arguments), signal.SIGKILL)
        assert not back.exists() or dump(back) == before  # killed at its very end
        back.unlink(missing_ok=True)
    source.out("move", *arguments)
    assert [path.name for path in source.data_dir.glob("back*")] == ["back.db"]
    assert back.stat().st_mode & 0o077 == 0
    assert dump(back) == before


@pytest.mark.prove
def test_events_that_wait_for_a_position_have_one_after_a_move(
    source: Terminal, prepared_urls: dict[str, str]
) -> None:
    with closing(sqlite3.connect(file_of(source))) as connection, connection:
        (before,) = connection.execute(_END_OF_LOG).fetchone()
        connection.execute(_WAITING_EVENTS)
    source.out("move", "--to", prepared_urls["SEALDESK_OWNER_DATABASE_URL"])
    back = source.data_dir / "back.db"
    source.out(
        "move",
        "--from",
        prepared_urls["SEALDESK_OWNER_DATABASE_URL"],
        "--to",
        f"sqlite:///{back}",
    )
    with closing(sqlite3.connect(back)) as connection:
        assert connection.execute("SELECT count(*) FROM event_outbox").fetchone() == (0,)
        assert connection.execute(_END_OF_LOG).fetchone() == (before + 3,)
        rows = connection.execute(_LAST_OF_FEED).fetchall()
    last = rows[0][2]
    assert [row[:2] for row in rows] == [("w3", last), ("w2", last - 1), ("w1", last - 2)]


@pytest.mark.prove
def test_one_postgresql_database_is_moved_to_another(
    moved: Moved, postgres_template: Template
) -> None:
    with new_urls(postgres_template) as urls:
        other = urls["SEALDESK_OWNER_DATABASE_URL"]
        refusal = moved.source.refused("move", "--from", other, "--to", moved.owner_url)
        assert "holds no Sealdesk" in refusal
        shown = moved.source.out("move", "--from", moved.owner_url, "--to", other)
        assert "Keep postgresql://owner@" in shown
        again = moved.source.run("move", "--from", moved.owner_url, "--to", other)
        assert "the target holds data already" in again.stderr
        files = [moved.source.data_dir / name for name in ("first.db", "second.db")]
        for url, path in zip((moved.owner_url, other), files, strict=True):
            moved.source.out("move", "--from", url, "--to", f"sqlite:///{path}")
        assert dump(files[0]) == dump(files[1])


@pytest.mark.prove
def test_ctrl_c_says_how_to_continue_and_an_unfinished_target_is_refused(
    source: Terminal, prepared_urls: dict[str, str]
) -> None:
    urls = prepared_urls
    add_many(file_of(source))
    hold_after(urls, 1)
    move = ("move", "--to", urls["SEALDESK_OWNER_DATABASE_URL"])
    from_option = ("--from", f"sqlite:///{file_of(source)}")
    code, remaining_output = end_process(
        start_move(source.with_env(**urls), *move[1:], *from_option), signal.SIGINT
    )
    sql(urls, _END_SESSION)  # interrupted in a statement, it would hold its locks for long
    let_go(urls)
    assert (code, "run the same command again" in remaining_output) == (130, True)
    served = after_move(source, urls)
    assert "holds an unfinished move; give the same `sealdesk move`" in served.refused("serve")
    assert "holds an unfinished move" in served.refused("tenants", "list")
    with closing(sqlite3.connect(file_of(source))) as connection, connection:
        connection.execute("DELETE FROM replies WHERE id = (SELECT min(id) FROM replies)")
    assert "of this one before it changed" in source.run(*move).stderr
    source.out(*move, "--restart")
    assert "Acme" in served.out("tenants", "list")


@pytest.mark.prove
def test_a_different_row_is_named(source: Terminal, prepared_urls: dict[str, str]) -> None:
    urls, owner_url = prepared_urls, prepared_urls["SEALDESK_OWNER_DATABASE_URL"]
    add_many(file_of(source))
    kill(move_a_part(source, urls), urls)
    let_go(urls)
    changed = "UPDATE events SET changes = '{}' WHERE id = '00000007' RETURNING tenant_id"
    (tenant_id,) = sql(urls, changed)
    done = source.run("move", "--to", owner_url)
    assert (done.returncode, done.stdout) == (1, "")
    expected = f"events differs between source and target, first in the row {tenant_id} 00000007."
    assert expected in done.stderr.splitlines()[-1]
    assert "unfinished move" in after_move(source, urls).refused("serve")


@pytest.mark.prove
def test_a_terminal_shows_a_bar_for_each_table_and_the_next_steps(moved: Moved) -> None:
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


def test_a_database_of_another_program_is_refused(
    source: Terminal, urls: dict[str, str], owner_url: str
) -> None:
    sql(urls, "CREATE TABLE songs (title text)")
    assert "holds something else (songs)" in source.refused("move", "--to", owner_url)
    assert sql(urls, "SELECT to_regclass('tenants') IS NULL") == ["t"]


def test_a_move_is_refused_while_a_server_runs(moved: Moved) -> None:
    with serving(moved.source):
        refusal = moved.source.refused("move", "--to", moved.owner_url)
    assert "another `sealdesk serve` uses" in refusal
    with serving(after_move(moved.source, moved.urls)) as served:
        assert httpx.get(f"{served.url}/readyz", timeout=60).status_code == 200
        back = ("--from", moved.owner_url, "--to", f"sqlite:///{moved.source.data_dir}/back.db")
        refusal = moved.source.refused("move", *back)
    assert "is in use by sealdesk serve as " in refusal


@pytest.mark.prove
def test_a_row_that_postgresql_cannot_hold_is_named(source: Terminal, owner_url: str) -> None:
    with closing(sqlite3.connect(file_of(source))) as connection, connection:
        connection.execute("UPDATE customers SET company = 'a' || char(0) || 'b' WHERE id IN"
                           " (SELECT max(id) FROM customers)")  # fmt: skip
        (key,) = connection.execute("SELECT tenant_id || ' ' || max(id) FROM customers").fetchone()
    expected = source.run("move", "--to", owner_url).stderr.splitlines()[-1]
    assert f"in the row {key}, company holds the character U+0000" in expected


def test_a_role_that_cannot_see_all_rows_is_refused(moved: Moved) -> None:
    back = moved.source.data_dir / "hidden.db"
    runtime = moved.urls["SEALDESK_DATABASE_URL"]
    refusal = moved.source.refused("move", "--from", runtime, "--to", f"sqlite:///{back}")
    assert "may hide rows of" in refusal
    assert not back.exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda url: re.sub(r":\d+/", f":{free_port()}/", url), "cannot be reached"),
        (lambda url: re.sub(r":[^:@]+@", ":wrong@", url), "does not let the role in"),
        (lambda url: url + "_not", "does not exist; create it with createdb"),
    ],
    ids=["unreachable", "wrong password", "no database"],
)
def test_an_unusable_target_prints_one_line(
    source: Terminal, owner_url: str, change: Any, expected: str
) -> None:
    refusal = source.refused("move", "--to", change(owner_url))
    assert expected in refusal
    assert ":wrong@" not in refusal


def test_missing_rights_print_one_line(source: Terminal, urls: dict[str, str]) -> None:
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


def test_a_missing_source_is_not_created(empty: Terminal, owner_url: str) -> None:
    assert "there is no installation in" in empty.refused("move", "--to", owner_url)
    assert not empty.data_dir.exists()
