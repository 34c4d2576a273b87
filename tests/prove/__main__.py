"""`make prove`: the long tests beside most resilience scenarios, then those that need quiet.

It says how long the tests took last time, and goes on with what this code has not passed yet.
"""

import argparse
import os
import subprocess
import sys

from tests.prove import plugin
from tests.prove.passed import HOME, Passed

_PROCESSES = 4
_QUICK_EVERY = 10
_TESTS = (
    *(sys.executable, "-m", "pytest", "-p", "tests.prove.plugin", f"-n{_PROCESSES}"),
    *("-m", "prove or hypothesis", "--hypothesis-profile=thorough"),
)
_SCENARIOS = (sys.executable, "-m", "tests.resilience", "--only")
_OUTPUT = HOME / "scenarios.txt"
_NONE_LEFT = 5  # the exit status of pytest without tests


def main() -> int:
    """The exit status: 0 if all is passed."""
    parser = argparse.ArgumentParser("python -m tests.prove", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="every tenth test, no scenarios")
    parser.add_argument("--fresh", action="store_true", help="also what was passed before")
    arguments = parser.parse_args()
    passed = Passed()
    passed.begin()
    if arguments.fresh:
        passed.forget()
    _say(_announce(passed))
    if arguments.quick:
        return 0 if _run_tests(_QUICK_EVERY) else 1
    again = [] if arguments.fresh else ["--go-on"]
    with _OUTPUT.open("w") as output:
        others = subprocess.Popen([*_SCENARIOS, "others", *again], stdout=output, stderr=output)
        is_passed = _run_tests(1)
        _say(f"The scenarios that ran beside them write to {_OUTPUT.name}.")
        is_passed &= others.wait() == 0
    _say(_OUTPUT.read_text())
    alone = subprocess.run([*_SCENARIOS, "alone", *again], check=False)
    return 0 if is_passed and alone.returncode == 0 else 1


def _run_tests(every: int) -> bool:
    """Whether every n-th long test is passed."""
    ran = subprocess.run(_TESTS, env=os.environ | {plugin.EVERY: str(every)}, check=False)
    return ran.returncode in (0, _NONE_LEFT)


def _announce(passed: Passed) -> str:
    """How many tests are left out, and how long the others took, in one or two sentences."""
    known, others = len(passed.tests()), passed.seconds_of_others()
    left_out = f"{known} long tests were passed by this code and are left out. " if known else ""
    if not others:
        return f"{left_out}How long the tests take is known after the first run."
    minutes = sum(others.values()) / _PROCESSES / 60
    return f"{left_out}{len(others)} others took about {minutes:.0f} minutes last time."


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
