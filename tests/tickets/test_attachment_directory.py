"""The directory of attachments while other processes change it."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from sealdesk import ids
from sealdesk.tickets.attachments import rules
from sealdesk.tickets.attachments.directory import Directory
from sealdesk.tickets.attachments.types import Content


def test_a_file_that_is_deleted_meanwhile_hides_no_other(tmp_path: Path) -> None:
    """Its entry is still listed, but leads to nothing."""
    contents = [Content(ids.mint(0), f"ab{number:062}") for number in range(9)]
    paths = [tmp_path / rules.path_of(each) for each in contents]
    paths[0].parent.mkdir(parents=True)
    for place, path in enumerate(paths):
        if place in (0, 4, 8):  # in whichever order they are listed
            path.symlink_to(tmp_path / "deleted")
        else:
            path.write_bytes(b"kept")

    async def list_all() -> list[Content]:
        storage = Directory(tmp_path / rules.FOLDER)
        return [stored.content async for stored in storage.list_all()]

    kept = [each for place, each in enumerate(contents) if place not in (0, 4, 8)]
    assert sorted(asyncio.run(list_all())) == sorted(kept)


def test_each_file_is_durable_with_the_folders_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def sync(handle: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink().relative_to(root)))

    monkeypatch.setattr(os, "fsync", sync)
    root = tmp_path / rules.FOLDER
    storage = Directory(root)
    for number, is_first in enumerate((True, False, True)):
        if number == 2:
            shutil.rmtree(root)  # as somebody may do in between
        synced.clear()
        kept = asyncio.run(storage.keep(root, "t", (b"a", b"b"), 0))
        assert (root.parent / rules.path_of(Content("t", kept.sha256))).read_bytes() == b"ab"
        file, *folders = synced
        assert file.startswith("incoming/")
        assert folders == [*(["."] if is_first else []), kept.sha256[:2]]
