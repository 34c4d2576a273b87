"""Where faults are planted: a copy of the sources and tests, never the tree itself."""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from tests.mutants.mutant import Mutant

ROOT = Path(__file__).parents[2]
# Few plug-ins and no options of the tree's own: starting is most of what a run takes.
# timeout is of a plug-in that is left away.
_MARKERS = "markers =\n    timeout(seconds)\n    prove\n    layout\n"
_SETTINGS = f"[pytest]\nfilterwarnings = error\nxfail_strict = true\n{_MARKERS}"
_OPTIONS = ("-q", "--tb=line", "-p", "no:cacheprovider")
_PASSED, _FAILED = 0, 1  # exit statuses of pytest


class Outcome(NamedTuple):
    """How a run of tests ended. is_red: each of them failed, and none for want of running."""

    is_green: bool
    is_red: bool
    text: str


def lay_out(directory: Path) -> None:
    """Copy what tests need into an empty directory."""
    # With the compiled files: times are copied too, so those of unchanged sources still hold.
    ignore = shutil.ignore_patterns("*.pyc.*")
    for name in ("src", "tests", "deploy"):
        shutil.copytree(ROOT / name, directory / name, ignore=ignore)
    (directory / "pytest.ini").write_text(_SETTINGS)


def plant(directory: Path, fault: Mutant) -> None:
    """Apply one fault to the copy. Raises ValueError unless its text stands there once."""
    file = directory / "src" / "sealdesk" / fault.file
    text = file.read_text()
    if text.count(fault.old) != 1:
        raise ValueError(f"{fault.file} does not hold once what “{fault.name}” replaces")
    file.write_text(text.replace(fault.old, fault.new))


def run(directory: Path, tests: Collection[str]) -> Outcome:
    """Run these tests in the copy, against the copy's sources."""
    path = os.pathsep.join((str(directory / "src"), str(directory)))
    env = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", *_OPTIONS, *tests]
    done = subprocess.run(
        command, cwd=directory, env=env, capture_output=True, text=True, check=False
    )
    ran = done.returncode == _FAILED and "\nERROR " not in done.stdout
    is_red = ran and all(f"\nFAILED {test}" in done.stdout for test in tests)
    return Outcome(done.returncode == _PASSED, is_red, done.stdout + done.stderr)
