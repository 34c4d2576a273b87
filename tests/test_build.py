"""A program tells of which commit it is, and how its Python was built."""

import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sealdesk import __version__, build
from tests.cli.backups import terminal_of
from tests.cli.terminal import Terminal
from tests.support.for_each import for_each
from tests.support.service import Service

HEAD = subprocess.run(
    ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
).stdout.strip()


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    build.commit.cache_clear()
    yield
    build.commit.cache_clear()


def test_the_commit_of_a_checkout_is_in_the_version_the_metrics_and_the_backup(
    start: Callable[..., Service], tmp_path: Path, empty: Terminal
) -> None:
    service = start()  # its own: a backup is noted
    assert empty.out("--version") == f"{__version__} (commit {HEAD})\n"
    shown = f'sealdesk_build_info{{commit="{HEAD}",version="{__version__}"}} 1.0'
    assert shown in service.state.metrics.exposition().decode()
    assert terminal_of(service).json("backup", str(tmp_path / "backup"))["commit"] == HEAD


def test_what_was_installed_says_its_commit_or_that_it_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_RECORDED", tmp_path / "commit")
    monkeypatch.setattr(build, "_CHECKOUT", tmp_path)
    assert build.commit() == "unknown"
    build.commit.cache_clear()
    (tmp_path / "commit").write_text("abc123\n")
    assert build.describe() == f"{__version__} (commit abc123)"


@for_each(
    ("prefix", "options", "is_optimised"),
    [
        ("/usr", "'--enable-shared'", True),  # of a distribution, which does not say so
        ("/opt/python", "'--enable-shared' '--enable-optimizations'", True),
        ("/opt/python", "'--enable-shared'", False),
        ("/opt/python", None, False),
    ],
)
def test_a_python_of_a_distribution_or_built_so_is_optimised(
    prefix: str, options: str | None, is_optimised: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "base_prefix", prefix)
        patch.setattr(sysconfig, "get_config_var", lambda _: options)
        assert build.is_python_optimised() == is_optimised
