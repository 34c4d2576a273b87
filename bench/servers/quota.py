"""Limits the CPU time of processes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_QUOTA_PERIOD_US = 100_000  # the default of container runtimes
# cgroup version 1 has a hierarchy for the CPU controller, version 2 one for all controllers.
_CGROUP_ROOTS = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))


class QuotaUnavailable(Exception):
    """The CPU time of processes cannot be limited here; the message says why."""


@contextmanager
def limit_cpu(pids: Sequence[int], share: float) -> Iterator[None]:
    """Put each process into a cgroup with this share of one core. Raises QuotaUnavailable."""
    groups: list[Path] = []
    try:
        try:
            for pid in pids:
                groups.append(_make_group(f"sealdesk-bench-{pid}", share))
                (groups[-1] / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise QuotaUnavailable(
                f"no control groups for the processor: {error.strerror}"
            ) from error
        yield
    finally:
        for group in groups:
            _remove_group(group)


def _make_group(name: str, share: float) -> Path:
    """Create a cgroup with this quota. Raises OSError."""
    quota_us = int(share * _QUOTA_PERIOD_US)
    root = next(
        (root for root in _CGROUP_ROOTS if (root / "cgroup.procs").exists()), _CGROUP_ROOTS[-1]
    )
    group = root / name
    group.mkdir()
    try:
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_period_us").write_text(str(_QUOTA_PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (group / "cpu.max").write_text(f"{quota_us} {_QUOTA_PERIOD_US}")
    except OSError:
        group.rmdir()
        raise
    return group


def _remove_group(group: Path) -> None:
    with suppress(OSError):
        for pid in (group / "cgroup.procs").read_text().split():
            (group.parent / "cgroup.procs").write_text(pid)
        group.rmdir()
