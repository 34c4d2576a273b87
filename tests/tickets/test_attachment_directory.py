"""The directory of attachments while other processes change it."""

import asyncio
from pathlib import Path

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
