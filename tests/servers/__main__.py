"""`python -m tests.servers`: install the servers that the tests need and this machine lacks.

Says first what it installs. Changes nothing where it may not install; the tests then say which of
them were not run.
"""

import sys
import time

from tests.servers.binaries import missing
from tests.servers.install import command_for, install, reason_not_to_install

_TELL_S = 5.0  # between lines where none can be rewritten
_WIDTH = 79


def main() -> int:
    """1 when an installation that was begun has failed."""
    lacking = missing()
    if not lacking:
        return 0
    _say(f"this machine lacks {', '.join(lacking)}, which tests need")
    reason = reason_not_to_install()
    if reason:
        _say(f"not installed: {reason}")
        _say(f"tests that need them are skipped; they run after: {command_for(lacking)}")
        return 0
    _say(f"now running: {command_for(lacking)}")
    _say("(Debian packages; DESK_TEST_INSTALL=no leaves the machine as it is)")
    failure = install(lacking, _Progress().show)
    _say(f"not installed: {failure}" if failure else "installed; none of them was started")
    return 1 if failure else 0


class _Progress:
    """The installation's progress: one line that is rewritten, or a line every five seconds."""

    def __init__(self) -> None:
        self._told_at = -_TELL_S

    def show(self, step: str) -> None:
        if sys.stdout.isatty():
            sys.stdout.write(f"\r\033[K{'servers: ' + step:.{_WIDTH}}")
            sys.stdout.flush()
        elif time.monotonic() >= self._told_at + _TELL_S:
            self._told_at = time.monotonic()
            _say(step)


def _say(text: str) -> None:
    start = "\r\033[K" if sys.stdout.isatty() else ""
    sys.stdout.write(f"{start}servers: {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
