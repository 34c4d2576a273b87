"""`python -m tests.postgres_sample`: runs all tests on PostgreSQL, and writes `left_out.txt`."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.postgres_sample import ALL, plugin, write_left_out

_RECORDING = Path(__file__).with_name("recording")
_TESTS = (sys.executable, "-m", "pytest", "-p", plugin.__name__, "-k", "postgresql")
_LEAST_S = 0.05


def main() -> int:
    """The exit status: 0 if the list is written."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        env = {ALL: "yes", plugin.DIRECTORY: name, "PYTHONPATH": str(_RECORDING)}
        ran = subprocess.run(_TESTS, env=os.environ | env, check=False)
        took_s, sent = plugin.read_durations(directory), plugin.read_statements(directory)
    if ran.returncode == 0:
        left_out = choose_left_out(sent, took_s)
        write_left_out(left_out)
        sys.stdout.write(f"{len(left_out)} of {len(sent)} tests are left out.\n")
    return ran.returncode


def choose_left_out(sent: Mapping[str, set[str]], took_s: Mapping[str, float]) -> set[str]:
    """The tests without which every statement is sent still.

    sent: test → statements, of all tests. took_s: test → seconds, of those that may be left out.
    What sends most that nobody has sent, for its time, stays.
    """
    left_out = set(took_s)
    always = [statements for test, statements in sent.items() if test not in took_s]
    missing = set[str]().union(*sent.values()).difference(*always)
    while missing:
        best = max(
            left_out, key=lambda test: len(sent[test] & missing) / max(took_s[test], _LEAST_S)
        )
        left_out.remove(best)
        missing -= sent[best]
    return left_out


if __name__ == "__main__":
    sys.exit(main())
