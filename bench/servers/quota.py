"""Limits the CPU time of processes."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_QUOTA_PERIOD_US = 100_000  # the default of container runtimes
_REMOVE_ATTEMPTS, _REMOVE_WAIT_S = 100, 0.02
# cgroup version 1 has a hierarchy for the CPU controller, version 2 one for all controllers.
_CGROUP_ROOTS = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))

_GROUP_NAME = "sealdesk-bench-{pid}"


class QuotaUnavailable(Exception):
    """The CPU time of processes cannot be limited here; the message says why."""


@contextmanager
def limit_cpu(pids: Sequence[int], share: float) -> Iterator[None]:
    """Put each process into a cgroup with this share of one core. Raises QuotaUnavailable."""
    groups: list[Path] = []
    try:
        try:
            for pid in pids:
                groups.append(_make_group(_GROUP_NAME.format(pid=pid), share))
                (groups[-1] / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise QuotaUnavailable(
                f"no control groups for the processor: {error.strerror}"
            ) from error
        yield
    finally:
        for group in groups:
            _remove_group(group)


def change_limit(pids: Sequence[int], share: float) -> None:
    """Give other shares to processes that are limited now."""
    for pid in pids:
        group = _root() / _GROUP_NAME.format(pid=pid)
        _write_limit(group, share)


def _make_group(name: str, share: float) -> Path:
    """Create a cgroup with this quota. Raises OSError."""
    group = _root() / name
    group.mkdir()
    try:
        _write_limit(group, share)
    except OSError:
        group.rmdir()
        raise
    return group


def _root() -> Path:
    return next(
        (root for root in _CGROUP_ROOTS if (root / "cgroup.procs").exists()), _CGROUP_ROOTS[-1]
    )


def _write_limit(group: Path, share: float) -> None:
    quota_us = int(share * _QUOTA_PERIOD_US)
    if (group / "cpu.cfs_quota_us").exists():
        (group / "cpu.cfs_period_us").write_text(str(_QUOTA_PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(quota_us))
    else:
        (group / "cpu.max").write_text(f"{quota_us} {_QUOTA_PERIOD_US}")


def _remove_group(group: Path) -> None:
    # Processes end and start meanwhile: a server starts one for each connection.
    for _ in range(_REMOVE_ATTEMPTS):
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):
                (group.parent / "cgroup.procs").write_text(pid)
        with suppress(OSError):
            group.rmdir()
            return
        time.sleep(_REMOVE_WAIT_S)
