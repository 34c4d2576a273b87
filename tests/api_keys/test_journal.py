"""The journal of keys: what is in it, and what is said of it, where files fail."""

import os
from pathlib import Path

import pytest

from sealdesk.api_keys import journal
from sealdesk.errors import ServiceUnavailable

SINCE = "1970-01-01T00:00:00Z"


def revoke(data_dir: Path, key_id: str) -> None:
    journal.record(data_dir, "revoked", "tenant", key_id, now_us=1_000_000)


def revoked(data_dir: Path) -> list[str]:
    return [change.key_id for change in journal.read_since(data_dir, SINCE) or ()]


def test_a_change_of_which_the_disk_takes_a_part_is_refused_and_cuts_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revoke(tmp_path, "before")
    write = os.write
    with monkeypatch.context() as full_disk:
        full_disk.setattr(os, "write", lambda handle, line: write(handle, line[:20]))
        with pytest.raises(ServiceUnavailable):
            revoke(tmp_path, "cut")
    revoke(tmp_path, "after")
    assert revoked(tmp_path) == ["before", "after"]


def test_a_full_journal_is_continued_in_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_MAX_BYTES", 200)
    for key_id in ("first", "second", "third"):
        revoke(tmp_path, key_id)
    assert revoked(tmp_path) == ["first", "second", "third"]
    assert {path.name for path in tmp_path.iterdir()} == {journal.FILE, f"{journal.FILE}.old"}


def test_a_change_is_in_a_full_journal_that_cannot_be_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_MAX_BYTES", 0)
    (tmp_path / f"{journal.FILE}.old").mkdir()
    revoke(tmp_path, "revoked")
    assert b'"revoked"' in (tmp_path / journal.FILE).read_bytes()


def test_the_last_rotation_of_a_key_is_found_as_long_as_the_journal_has_it(tmp_path: Path) -> None:
    assert journal.find_rotation(tmp_path, "mine") is None
    for now_us, key_id in ((1_000_000, "mine"), (2_000_000, "mine"), (3_000_000, "other")):
        journal.record(tmp_path, "rotated", "tenant", key_id, now_us=now_us)
    revoke(tmp_path, "mine")
    with (tmp_path / journal.FILE).open("ab") as file:
        file.write(b'\n{"key_id":"mine","type":"rot')
    assert journal.find_rotation(tmp_path, "mine") == "1970-01-01T00:00:02.000000Z"
    assert journal.find_rotation(tmp_path, "another") is None
