"""Limits on the time that processes may compute, by control groups of Linux."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_PERIOD_US = 100_000  # the usual one of containers
# Version 1 has a tree of groups for the processor alone, version 2 one for everything.
_ROOTS = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))


class NoQuota(Exception):
    """Processes cannot be limited here; the text says why."""


@contextmanager
def limited(pids: Sequence[int], share: float) -> Iterator[None]:
    """Each process in a group of its own that gets this share of one core. Raises NoQuota."""
    groups: list[Path] = []
    try:
        try:
            for pid in pids:
                groups.append(_made(f"sealdesk-bench-{pid}", share))
                (groups[-1] / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise NoQuota(f"no control groups for the processor: {error.strerror}") from error
        yield
    finally:
        for group in groups:
            _remove(group)


def _made(name: str, share: float) -> Path:
    """A group with this quota. Raises OSError."""
    quota_us = int(share * _PERIOD_US)
    root = next((root for root in _ROOTS if (root / "cgroup.procs").exists()), _ROOTS[-1])
    group = root / name
    group.mkdir()
    try:
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (group / "cpu.max").write_text(f"{quota_us} {_PERIOD_US}")
    except OSError:
        group.rmdir()
        raise
    return group


def _remove(group: Path) -> None:
    with suppress(OSError):
        for pid in (group / "cgroup.procs").read_text().split():
            (group.parent / "cgroup.procs").write_text(pid)
        group.rmdir()
