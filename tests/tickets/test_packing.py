"""Attachments that come out of a backup: each fits its name, and nothing else is written."""

import asyncio
import io
from pathlib import Path

import pytest

from sealdesk import ids
from sealdesk.crypto.encrypted_file import DamagedFile
from sealdesk.db.backup.archive import PackedFile
from sealdesk.tickets.attachments import packing
from tests.support.service import settings_in


def unpack(data_dir: Path, name: str, content: bytes = b"other bytes") -> None:
    packed = [PackedFile(name, len(content), io.BytesIO(content))]
    asyncio.run(packing.unpack(packed, settings_in(data_dir)))


def attached(data_dir: Path) -> list[Path]:
    return [path for path in (data_dir / "attachments").rglob("*") if path.is_file()]


def test_an_attachment_that_does_not_fit_its_name_is_not_restored(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile):
        unpack(tmp_path / "data", f"attachments/ab/{'ab' * 32}.{ids.mint(0)}")
    assert attached(tmp_path / "data") == []


@pytest.mark.parametrize(
    "name", ["../master.key", "attachments/../x", "attachments/ab/x", "/etc/x", "attachments/lock"]
)
def test_only_attachments_are_restored(tmp_path: Path, name: str) -> None:
    with pytest.raises(DamagedFile):
        unpack(tmp_path / "data", name)
    assert attached(tmp_path / "data") == []
