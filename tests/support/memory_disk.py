"""Temporary files of the tests in memory: the run wrote 10 GB to its disk (2026-11)."""

import os
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
# The files of a run take 1 GB.
_NEEDED_BYTES = 4 << 30


def use_memory_disk() -> None:
    """Let temporary files be in memory where that is large enough, and TMPDIR does not differ."""
    if "TMPDIR" not in os.environ and _is_usable():
        os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)


def _is_usable() -> bool:
    if not os.access(_MEMORY, os.W_OK):
        return False
    disk = os.statvfs(_MEMORY)
    # Some tests run programs that they have built.
    runs_programs = not disk.f_flag & os.ST_NOEXEC
    return runs_programs and disk.f_bavail * disk.f_frsize >= _NEEDED_BYTES
