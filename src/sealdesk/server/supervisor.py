"""Several serving processes on one port: their parent forks them, replaces those that die, and
ends them together.

The parent has one thread and no event loop: it sleeps until a signal or a child's end wakes it.
"""

import contextlib
import ctypes
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import structlog

from sealdesk.server import draining
from sealdesk.server.serve import ENDING_SIGNALS
from sealdesk.telemetry import logs

FIRST_DELAY_S = 0.25
LONGEST_DELAY_S = 30.0
STEADY_AFTER_S = 10.0  # whoever has lived so long starts at the first delay again
_KILL_AFTER_S = draining.DRAIN_S + 0.5  # a child's own alarm comes before
_READY = signal.SIGRTMIN  # real-time signals queue, so that none is lost
_WATCHED = (signal.SIGCHLD, _READY, *ENDING_SIGNALS)
_IDLE_S = 3600.0
_PR_SET_PDEATHSIG = 1

# What a child does, given its number from 1 and whom to tell that it has begun; the exit code.
Work = Callable[[int, Callable[[], None]], int]

log = structlog.get_logger("sealdesk.server.supervisor")


def next_delay_s(before_s: float, lived_s: float) -> float:
    """How long to wait with replacing a worker. before_s: how long it was the last time."""
    if lived_s >= STEADY_AFTER_S:
        return FIRST_DELAY_S
    return min(max(FIRST_DELAY_S, 2 * before_s), LONGEST_DELAY_S)


class _Child(NamedTuple):
    number: int
    started_at: float


class Parent:
    """The parent of one child for each socket; `run` it once, in a process without threads."""

    def __init__(
        self, sockets: list[socket.socket], work: Work, on_ready: Callable[[], None]
    ) -> None:
        # Kept open here: whoever waits at the socket of a child that died waits for the next one.
        self._sockets = sockets
        self._count = len(sockets)
        self._work = work
        self._on_ready = on_ready
        self._children: dict[int, _Child] = {}
        self._delays_s: dict[int, float] = {}
        self._due: list[tuple[float, Callable[[], None]]] = []
        self._was_ready = False
        self._is_ending = False
        self._exit_code = 0

    def run(self, notice_s: int) -> int:
        """Keep the children working until SIGTERM or SIGINT; 0 when all of them drained.

        When the first of them cannot begin to work, the others would not either: it ends with
        the first one's exit code.
        """
        self._notice_s = notice_s
        signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        # What is loaded by now is shared by all, as long as no collector writes into it.
        gc.collect()
        gc.freeze()
        self._start(1)
        while self._children or not self._is_ending:
            told = signal.sigtimedwait(_WATCHED, self._sleep_s())
            if told is not None:
                self._heed(told.si_signo, told.si_pid)
            self._bury_dead()
            self._do_what_is_due()
        return self._exit_code

    def _start(self, number: int) -> None:
        parent = os.getpid()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, ENDING_SIGNALS)
                _end_with(parent)
                logs.tell_always(worker=number)
                for other in self._sockets[: number - 1] + self._sockets[number:]:
                    other.close()
                code = self._work(number, lambda: os.kill(parent, _READY))
            finally:
                # Nothing of the parent's stack is the child's to unwind.
                os._exit(code)
        self._children[pid] = _Child(number, time.monotonic())

    def _heed(self, number: int, sender: int) -> None:
        if number == _READY and sender in self._children and not self._was_ready:
            self._was_ready = True
            for child in range(2, self._count + 1):
                self._start(child)
            self._on_ready()
        elif number in ENDING_SIGNALS and not self._is_ending:
            self._end()
        elif number == signal.SIGINT:
            self._kill()

    def _end(self) -> None:
        self._is_ending = True
        self._due.clear()
        for pid in self._children:
            os.kill(pid, signal.SIGTERM)
        self._later(self._notice_s, self._close_door)
        self._later(_KILL_AFTER_S, self._kill)

    def _close_door(self) -> None:
        for sock in self._sockets:
            draining.turn_away(sock)
            sock.close()

    def _kill(self) -> None:
        log.warning("workers were killed", count=len(self._children))
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)

    def _bury_dead(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self._replace(self._children.pop(pid), pid, os.waitstatus_to_exitcode(status))

    def _replace(self, child: _Child, pid: int, code: int) -> None:
        if self._is_ending or not self._was_ready:
            self._is_ending = True
            self._exit_code = self._exit_code or (1 if code else 0)
            return
        lived_s = time.monotonic() - child.started_at
        delay_s = next_delay_s(self._delays_s.get(child.number, 0.0), lived_s)
        self._delays_s[child.number] = delay_s
        log.error("a worker died", died=child.number, died_pid=pid, code=code, restart_in_s=delay_s)
        self._later(delay_s, partial(self._start, child.number))

    def _later(self, delay_s: float, action: Callable[[], None]) -> None:
        self._due.append((time.monotonic() + delay_s, action))

    def _sleep_s(self) -> float:
        now = time.monotonic()
        return max(0.0, min((at - now for at, _ in self._due), default=_IDLE_S))

    def _do_what_is_due(self) -> None:
        now = time.monotonic()
        due = [entry for entry in self._due if entry[0] <= now]
        self._due = [entry for entry in self._due if entry[0] > now]
        for _, action in due:
            action()


def _end_with(parent: int) -> None:
    """Have the kernel send this process SIGTERM when its parent dies, however it dies."""
    with contextlib.suppress(OSError, AttributeError):  # only Linux knows this
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
