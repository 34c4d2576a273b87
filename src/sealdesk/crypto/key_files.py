"""Key files: 32 random bytes in base64, created once and readable only by their owner."""

import base64
import binascii
import contextlib
import os
import secrets
from pathlib import Path

from sealdesk.crypto.sealing import KEY_BYTES

MASTER = "master.key"


def first_start_marker(data_dir: Path) -> Path:
    """The file that exists from the creation of the master key to that of the database."""
    return data_dir / "first-start"


def decode_key(text: str) -> bytes | None:
    """The 32 random bytes, None when the text is not a random key, such as 32 equal bytes."""
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    is_varied = len(set(key)) >= KEY_BYTES // 4
    is_text = key.isascii() and key.decode().isprintable()
    return key if len(key) == KEY_BYTES and is_varied and not is_text else None


def read_or_create(path: Path) -> str:
    """The text of a key file, which is created atomically when it does not exist.

    Until the database exists too, a marker beside a new master key tells the first start of an
    installation from one that has lost its database.
    """
    with contextlib.suppress(FileNotFoundError):
        return path.read_text("utf-8-sig", "replace").strip()
    if path.name == MASTER:
        first_start_marker(path.parent).touch(0o600)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode() + "\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        fresh.unlink()
    return path.read_text("ascii").strip()
