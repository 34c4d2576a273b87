"""Runs beside tests: ends their servers and removes their directories, even after SIGKILL.

Lines of its input: "pid NUMBER SIGNAL", "gone NUMBER", "directory PATH". The end of its input is
the end of the tests.
"""

import os
import shutil
import signal
import sys
import time

_GRACE_S = 1.0


def main() -> None:
    pids: dict[int, int] = {}
    directories: list[str] = []
    for line in sys.stdin:
        what, _, rest = line.rstrip("\n").partition(" ")
        if what == "pid":
            pid, number = rest.split()
            pids[int(pid)] = int(number)
        elif what == "gone":
            pids.pop(int(rest), None)
        else:
            directories.append(rest)
    ending = [pid for pid, number in pids.items() if _signal(pid, number)]
    if ending:
        time.sleep(_GRACE_S)
        for pid in ending:
            _signal(pid, signal.SIGKILL)
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)


def _signal(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
