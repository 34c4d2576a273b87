"""A copy of the sources and tests in which a mutant is applied and its tests are run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from tests.mutants.mutant import Mutant

ROOT = Path(__file__).parents[2]
# Few plug-ins and none of the project's options, because most of a run's time is the start.
# timeout is of a plug-in that is left away.
_MARKERS = "markers =\n    timeout(seconds)\n    prove\n    layout\n    service\n"
_SETTINGS = f"[pytest]\nfilterwarnings = error\nxfail_strict = true\n{_MARKERS}"
_OPTIONS = ("-q", "--tb=line", "-p", "no:cacheprovider")
_PASSED, _FAILED = 0, 1  # exit statuses of pytest


class Outcome(NamedTuple):
    """The result of a run. is_red: every test ran and failed."""

    is_green: bool
    is_red: bool
    text: str


def copy_sources(directory: Path) -> None:
    """Copy the sources and tests into an empty directory."""
    # With the compiled files, which stay valid because modification times are copied too.
    ignore = shutil.ignore_patterns("*.pyc.*")
    for name in ("src", "tests", "deploy", "docs/api"):
        shutil.copytree(ROOT / name, directory / name, ignore=ignore)
    (directory / "pytest.ini").write_text(_SETTINGS)


def apply(directory: Path, mutant: Mutant) -> None:
    """Apply a mutant to the copy. Raises ValueError unless its `old` occurs exactly once."""
    file = directory / "src" / "sealdesk" / mutant.file
    text = file.read_text()
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.file} does not contain the text of “{mutant.name}” exactly once")
    file.write_text(text.replace(mutant.old, mutant.new))


def run(directory: Path, tests: Collection[str]) -> Outcome:
    """Run these tests of the copy against the sources of the copy."""
    path = os.pathsep.join((str(directory / "src"), str(directory)))
    env = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", *_OPTIONS, *tests]
    done = subprocess.run(
        command, cwd=directory, env=env, capture_output=True, text=True, check=False
    )
    ran = done.returncode == _FAILED and "\nERROR tests/" not in done.stdout
    is_red = ran and all(f"\nFAILED {test}" in done.stdout for test in tests)
    return Outcome(done.returncode == _PASSED, is_red, done.stdout + done.stderr)
