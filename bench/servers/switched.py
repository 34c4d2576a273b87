"""`sealdesk` with signals that switch events and their consumers on and off.

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
from sealdesk.event_log import consumers, events
from sealdesk.event_log.consumers import NOTHING, Step
from sealdesk.worker import log_tasks


class Mode(IntEnum):
    """What the service does with events; the value is the number of the signal.

    Consumers run in the last mode only. On SQLite an event is sequenced when it is recorded.
    """

    UNRECORDED = signal.SIGRTMIN
    RECORDED = signal.SIGRTMIN + 1
    SEQUENCED = signal.SIGRTMIN + 2


_record = vars(events)["_record"]
_sequence = vars(log_tasks)["sequence"]
_run_step, _find_lags = consumers.run_step, consumers.find_lags


def switch(pid: int, mode: Mode) -> None:
    """Switch the mode of a process."""
    os.kill(pid, mode)


async def _record_nothing(*_: Any, **__: Any) -> str:
    return ""


async def _sequence_nothing(*_: Any) -> int:
    return 0


async def _find_nothing(*_: Any) -> dict[str, int]:
    return {}


async def _consume_nothing(*_: Any) -> Step:
    return NOTHING


def _apply_mode(number: int, _: types.FrameType | None) -> None:
    vars(events)["_record"] = _record_nothing if number == Mode.UNRECORDED else _record
    is_sequenced = number == Mode.SEQUENCED
    vars(log_tasks)["sequence"] = _sequence if is_sequenced else _sequence_nothing
    vars(consumers)["run_step"] = _run_step if is_sequenced else _consume_nothing
    vars(consumers)["find_lags"] = _find_lags if is_sequenced else _find_nothing


if __name__ == "__main__":
    for mode in Mode:
        signal.signal(mode, _apply_mode)
    sys.exit(cli.main())
