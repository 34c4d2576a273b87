"""Only a Sealdesk database of a known schema version is opened."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sealdesk.db.migrations import schema_version
from sealdesk.db.migrations.schema_version import DEVELOPMENT_COMMIT, KNOWN_VERSIONS, Unusable
from tests.support.newer_version import COLOUR, newer_sealdesk

OPEN = "import sys, pathlib; from sealdesk.db.migrations import schema_version as v;"
ENSURE = OPEN + "print(v.ensure_current(pathlib.Path(sys.argv[1])))"


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    """A database of the current schema that holds one tenant."""
    path = tmp_path / "sealdesk.db"
    shutil.copy(template, path)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO tenants VALUES ('t', 'Acme', 1)")
    connection.commit()
    connection.close()
    return path


def _run(code: str, path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def _columns(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    names = [row[1] for row in connection.execute("PRAGMA table_info(tenants)")]
    connection.close()
    return names


def test_current_database_is_left_alone(path: Path) -> None:
    before = path.read_bytes()
    assert not schema_version.ensure_current(path)
    assert path.read_bytes() == before


def test_path_may_have_any_characters(template: Path, tmp_path: Path) -> None:
    path = tmp_path / "what? 100%#1.db"
    shutil.copy(template, path)
    assert schema_version.schema_version(path) == KNOWN_VERSIONS[-1]


def test_version_is_read_from_the_wal_of_a_crashed_process(path: Path, tmp_path: Path) -> None:
    crash = "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
    crash += "c.execute('PRAGMA journal_mode = WAL'); c.execute('CREATE TABLE x (y)'); os._exit(9)"
    _run(crash, path)
    assert path.with_name("sealdesk.db-wal").stat().st_size > 0
    assert schema_version.schema_version(path) == KNOWN_VERSIONS[-1]


def test_newer_code_migrates_an_old_database_and_keeps_its_rows(path: Path, tmp_path: Path) -> None:
    done = _run(ENSURE, path, **newer_sealdesk(tmp_path))
    assert done.stdout == "True\n", done.stderr
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT * FROM tenants").fetchall() == [("t", "Acme", 1, None)]
    connection.close()


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("0070", f"of a development version: check out commit {DEVELOPMENT_COMMIT}, run `sealdesk"),
        ("9999", "which is newer .* run the newer Sealdesk"),
    ],
)
def test_an_unknown_schema_is_refused_and_not_changed(path: Path, version: str, told: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
    before = path.read_bytes()
    with pytest.raises(Unusable, match=f"schema {version},? {told}"):
        schema_version.ensure_current(path)
    assert path.read_bytes() == before


def test_migration_that_fails_halfway_changes_nothing(path: Path, tmp_path: Path) -> None:
    then = '\n    op.execute("INSERT INTO nowhere VALUES (1)")'
    broken = newer_sealdesk(tmp_path, f"{COLOUR}{then}")
    done = _run(ENSURE, path, **broken)
    assert "nothing was changed: no such table: nowhere" in done.stderr
    assert _columns(path) == ["id", "name", "created_at"]
    assert schema_version.schema_version(path) == KNOWN_VERSIONS[-1]


def test_two_first_starts_at_once_make_one_private_database(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    command = [sys.executable, "-m", "sealdesk.db.migrate"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    both = [subprocess.Popen(command, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    told = json.dumps({"path": str(path)}).encode()
    assert [(c.communicate(told)[1], c.returncode) for c in both] == [(b"", 0)] * 2
    assert schema_version.schema_version(path) == KNOWN_VERSIONS[-1]
    assert [file.name for file in tmp_path.iterdir() if file.stat().st_mode & 0o077] == []


@pytest.mark.parametrize(
    "content",
    [b"not a database at all, but long enough to have a header\n" * 99, b"SQLite", b"\0" * 4096],
    ids=["text", "short", "zeroes"],
)
def test_file_that_is_no_database_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sealdesk.db"
    path.write_bytes(content)
    with pytest.raises(Unusable) as refused:
        schema_version.ensure_current(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == content


def test_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sealdesk.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (title)")
    connection.close()
    with pytest.raises(Unusable, match="tables of another program"):
        schema_version.ensure_current(path)


def test_directory_in_place_of_a_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="cannot be read"):
        schema_version.ensure_current(tmp_path)
