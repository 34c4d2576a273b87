"""`python -m tests.sample`: runs all tests, and writes the lists of those that are left out."""

import heapq
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.sample import ALL, plugin, write

_RECORDING = Path(__file__).with_name("recording")
_TESTS = (sys.executable, "-m", "pytest", "-p", plugin.__name__)
_ENDED = (0, 1)  # exit statuses of pytest: all passed, some failed
_QUICK_S = 0.2  # of a processor, which also notes the lines
_LEAST_S = 0.3  # on PostgreSQL, whose processes are not measured


def main() -> int:
    """The exit status: 0 if the lists are written."""
    with tempfile.TemporaryDirectory() as name:
        env = {ALL: "yes", plugin.DIRECTORY: name, "PYTHONPATH": str(_RECORDING)}
        ran = subprocess.run(_TESTS, env=os.environ | env, check=False)
        if ran.returncode in _ENDED:
            _choose(Path(name))
    return ran.returncode


def _choose(directory: Path) -> None:
    ran, sent = plugin.read_lines(directory), plugin.read_statements(directory)
    took_s = plugin.read_times(directory, plugin.ANYWHERE)
    slow_s = {test: each for test, each in took_s.items() if each >= _QUICK_S}
    everywhere = choose_left_out(ran, slow_s)
    staying = {test: each for test, each in sent.items() if test not in everywhere}
    took_s = plugin.read_times(directory, plugin.ON_POSTGRESQL)
    staying_s = {test: each for test, each in took_s.items() if test not in everywhere}
    on_postgresql = choose_left_out(staying, staying_s)
    write(everywhere, on_postgresql)
    sys.stdout.write(
        f"Of {len(ran)} tests {len(everywhere)} are left out, and {len(on_postgresql)} on "
        "PostgreSQL.\n"
    )


def choose_left_out(shown: Mapping[str, set[str]], took_s: Mapping[str, float]) -> set[str]:
    """The tests without which the others show everything still.

    shown: test → lines or statements, of all tests. took_s: test → seconds, of those that may be
    left out. What shows most that nobody has shown, for its time, stays.
    """
    left_out = set(took_s)
    always = [each for test, each in shown.items() if test not in took_s]
    missing = set[str]().union(*shown.values()).difference(*always)
    queue = [(-len(shown.get(test, ())) / (s + _LEAST_S), test) for test, s in took_s.items()]
    heapq.heapify(queue)
    while missing:
        _, test = heapq.heappop(queue)
        worth = len(shown[test] & missing) / (took_s[test] + _LEAST_S)
        if queue and worth < -queue[0][0]:  # less than it was: others have shown some of it
            heapq.heappush(queue, (-worth, test))
        elif worth:
            left_out.remove(test)
            missing -= shown[test]
    return left_out


if __name__ == "__main__":
    sys.exit(main())
