"""`sealdesk` with signals that switch recording and sequencing of events on and off.

`python -m bench.servers.switched serve …`. Measuring both modes in one process keeps its memory and
the rows the same, which two processes would not have.
"""

import os
import signal
import sys
import types
from enum import IntEnum
from typing import Any

from sealdesk import cli
from sealdesk.event_log import events
from sealdesk.state import AppState
from sealdesk.worker import log_tasks


class Mode(IntEnum):
    """What the service does with events; the value is the number of the signal."""

    UNRECORDED = signal.SIGRTMIN
    RECORDED = signal.SIGRTMIN + 1
    SEQUENCED = signal.SIGRTMIN + 2


_record = events.record
_sequence = vars(log_tasks)["sequence"]


def switch(pid: int, mode: Mode) -> None:
    """Switch the mode of a process."""
    os.kill(pid, mode)


async def _record_nothing(*_: Any) -> str:
    return ""


async def _sequence_nothing(_: AppState) -> int:
    return 0


def _apply_mode(number: int, _: types.FrameType | None) -> None:
    vars(events)["record"] = _record_nothing if number == Mode.UNRECORDED else _record
    vars(log_tasks)["sequence"] = _sequence if number == Mode.SEQUENCED else _sequence_nothing


if __name__ == "__main__":
    for mode in Mode:
        signal.signal(mode, _apply_mode)
    sys.exit(cli.main())
