import base64
import json
import os
import platform
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sealdesk.cli.doctor import sqlite_storage
from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS
from sealdesk.db.sqlite.quick_check import CheckResult
from tests.cli.fixtures import on_a_file
from tests.cli.terminal import Terminal
from tests.support.client import Person
from tests.support.service import Service


def find_all(terminal: Terminal) -> dict[str, Any]:
    """Run `sealdesk doctor`; return its findings by subject."""
    return {finding["about"]: finding for finding in terminal.json("doctor")}


@on_a_file
def test_a_running_installation_passes_every_check(terminal: Terminal) -> None:
    findings = find_all(terminal)
    assert "is running" in findings["server"]["text"]
    assert "s from the clock at" in findings["clock"]["text"]
    assert findings["proxies"]["state"] == "good"
    assert platform.python_version() in findings["python"]["text"]
    assert f"schema {KNOWN_VERSIONS[-1]}, WAL, full sync" in findings["database"]["text"]


def test_what_a_service_that_does_not_respond_hides_is_not_called_good(installed: Terminal) -> None:
    nowhere = installed.with_env(SEALDESK_API_URL="http://127.0.0.1:1")
    findings = find_all(nowhere)
    for about in ("routes", "clock", "proxies", "server", "secrets"):
        assert findings[about]["state"] == "note"
        assert "not " in findings[about]["text"]


def test_doctor_creates_no_installation(empty: Terminal) -> None:
    assert empty.run("doctor").returncode == 1
    assert not empty.data_dir.exists()


def test_files_open_to_other_users_are_named_and_fixed_on_request(installed: Terminal) -> None:
    key, directory = installed.data_dir / "master.key", installed.data_dir
    key.chmod(0o640)
    directory.chmod(0o755)
    failed = installed.run("doctor")
    assert failed.returncode == 1
    assert f"{key} is open to other users (0640)" in failed.stdout
    assert f"{directory} is open to other users (0755)" in failed.stdout
    installed.out("doctor", "--fix")
    modes = [path.stat().st_mode & 0o777 for path in (key, directory)]
    assert modes == [0o600, 0o700]


def test_an_invalid_setting_is_reported(installed: Terminal) -> None:
    failed = installed.with_env(SEALDESK_MAX_SKEW_S="1000").run("doctor")
    assert (failed.returncode, "SEALDESK_MAX_SKEW_S must be" in failed.stdout) == (1, True)
    failed = installed.with_env(SEALDESK_DATA_DIR="$HOME/desk").run("doctor")
    assert (failed.returncode, "write the path itself" in failed.stdout) == (1, True)


def test_a_wrong_master_key_is_reported(terminal: Terminal) -> None:
    other = base64.b64encode(os.urandom(32)).decode()
    failed = terminal.with_env(SEALDESK_MASTER_KEY=other).run("doctor")
    assert (failed.returncode, "cannot be opened" in failed.stdout) == (1, True)


def test_a_password_of_a_mailbox_that_cannot_be_opened_is_reported(installed: Terminal) -> None:
    tenant = installed.tenant("ada@acme.test")
    options = ("--tenant", tenant, "--imap-host", "imap.acme.test", "--username", "desk")
    installed.out("mailboxes", "add", "desk@acme.test", *options, stdin="secret\n")
    assert "1 of mailboxes tried" in find_all(installed)["secrets"]["text"]
    other = base64.b64encode(os.urandom(32)).decode()
    failed = installed.with_env(SEALDESK_MASTER_KEY=other).run("doctor")
    assert (failed.returncode, "password of mailbox" in failed.stdout) == (1, True)


def _overwrite_last_table(terminal: Terminal) -> None:
    path = terminal.data_dir / "sealdesk.db"
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT max(rootpage) FROM sqlite_master").fetchone()
    with path.open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(os.urandom(4096))


def test_a_damaged_page_is_reported_with_the_remedy(installed: Terminal) -> None:
    assert find_all(installed)["pages"]["state"] == "good"
    _overwrite_last_table(installed)
    failed = installed.run("doctor")
    assert failed.returncode == 1
    assert "are damaged" in failed.stdout
    assert "sealdesk restore" in failed.stdout


def test_check_of_tables_is_cut_with_a_message() -> None:
    cut = sqlite_storage.judge_pages(12, frozenset(), CheckResult(is_complete=False), log_bytes=0)
    assert (cut.state, "cut after 60 s" in cut.text) == ("note", True)


def test_damage_that_the_log_may_repair_is_told_apart() -> None:
    pages = frozenset({4, 5})
    in_file = sqlite_storage.judge_pages(12, pages, CheckResult(), log_bytes=4096)
    lost = sqlite_storage.judge_pages(12, pages, CheckResult(), log_bytes=0)
    assert (in_file.state, lost.state) == ("note", "bad")


@pytest.mark.parametrize(("size", "state"), [(1, "good"), (300 * 1024 * 1024, "bad")])
def test_a_large_log_is_reported(tmp_path: Path, size: int, state: str) -> None:
    path = tmp_path / "sealdesk.db"
    with path.with_name("sealdesk.db-wal").open("wb") as file:
        file.truncate(size)
    assert sqlite_storage.check_log(path).state == state


def test_a_damaged_database_is_reported(installed: Terminal) -> None:
    (installed.data_dir / "sealdesk.db").write_bytes(os.urandom(8192))
    failed = installed.run("doctor")
    assert (failed.returncode, "file is not a database" in failed.stdout) == (1, True)


def test_a_proxy_that_is_not_trusted_is_reported(terminal: Terminal, own_service: Service) -> None:
    for _ in range(3):
        Person(own_service, "").get("/api/v1/time", x_forwarded_for="192.0.2.1")
    done = terminal.with_env(SEALDESK_API_URL=own_service.url).run("doctor", "--json")
    (finding,) = [each for each in json.loads(done.stdout) if each["about"] == "proxies"]
    assert (done.returncode, finding["state"]) == (1, "bad")
    assert "3 requests came from 127.0.0.1" in finding["text"]
    assert "SEALDESK_TRUSTED_PROXIES" in finding["text"]
