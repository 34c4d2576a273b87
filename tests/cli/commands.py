"""`sealdesk` commands that run beside a test, as forks of a process that has imported them."""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryFile
from typing import IO, Self

PROGRAM = Path(sys.executable).with_name("sealdesk")
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
File = IO[str] | IO[bytes] | int
_FORK_SERVER_PROGRAM = Path(__file__).with_name("fork_server.py")
# A command takes two seconds at most, but a machine may be busy or slow.
TIMEOUT_S = 300
_AT_START = ("PYTHON", "LANG", "LC_", "TZ")
# Names another version, whose commands are forks of a process of its own.
_VERSION = "PYTHONPATH"


class Command:
    """A running command, with what `subprocess.Popen` has. Its output is read from pipes.

    At the end of a `with` block its pipes are closed, and it is waited for.
    """

    def __init__(self, pid: int, pipes: Mapping[str, IO[str]]) -> None:
        self.pid = pid
        self.stdin, self.stdout, self.stderr = map(pipes.get, ("stdin", "stdout", "stderr"))
        self.returncode: int | None = None
        self._has_ended = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.wait()

    def close(self) -> None:
        """Close the pipes."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()

    def end(self, exit_code: int) -> None:
        """Take note of its end."""
        self.returncode = exit_code
        self._has_ended.set()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float = TIMEOUT_S) -> int:
        if not self._has_ended.wait(timeout):
            raise subprocess.TimeoutExpired(f"sealdesk, process {self.pid}", timeout)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start_command(
    *args: str,
    env: Mapping[str, str],
    stdin: File = DEVNULL,
    stdout: File = DEVNULL,
    stderr: File = DEVNULL,
    is_group: bool = False,
) -> Command:
    """Run `sealdesk` with these arguments. Its files: PIPE, DEVNULL or one that is open.

    is_group: it and its processes are a process group of their own, to be killed together.
    """
    what = {"arguments": [str(PROGRAM), *args], "env": {**env}, "directory": str(Path.cwd())}
    with ExitStack() as stack:
        told = stack.enter_context(TemporaryFile("w+"))
        json.dump(what, told)
        told.seek(0)
        descriptors, pipes = [told.fileno()], {}
        for name, file in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
            theirs, ours = _opened(file, stack, is_read=name == "stdin")
            descriptors.append(theirs)
            if ours is not None:
                pipes[name] = ours
        return _fork_server(env.get(_VERSION)).start(descriptors, pipes, is_group=is_group)


def can_fork(env: Mapping[str, str]) -> bool:
    """Whether a fork sees what Python reads only at its start."""
    return _at_start(env) == _at_start(os.environ)


def _opened(file: File, stack: ExitStack, *, is_read: bool) -> tuple[int, IO[str] | None]:
    """The descriptor for the command, and our end of a pipe."""
    if file == DEVNULL:
        return stack.enter_context(Path(os.devnull).open("r" if is_read else "w")).fileno(), None
    if file != PIPE:
        return file if isinstance(file, int) else file.fileno(), None
    reading, writing = os.pipe()
    theirs, ours = (reading, writing) if is_read else (writing, reading)
    stack.callback(os.close, theirs)
    return theirs, os.fdopen(ours, "w" if is_read else "r")


class _ForkServer:
    """The client of `fork_server`."""

    def __init__(self, version: str | None) -> None:
        self._messages, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._started = SimpleQueue[Command]()
        self._pipes = SimpleQueue[Mapping[str, IO[str]]]()
        self._one_at_a_time = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", _FORK_SERVER_PROGRAM, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={**os.environ, **({_VERSION: version} if version else {})},
                stdin=subprocess.DEVNULL,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        atexit.register(self._end)

    def start(
        self, descriptors: Sequence[int], pipes: Mapping[str, IO[str]], *, is_group: bool
    ) -> Command:
        with self._one_at_a_time:
            self._pipes.put(pipes)
            socket.send_fds(self._messages, [b"group" if is_group else b"alone"], [*descriptors])
            return self._started.get(timeout=TIMEOUT_S)

    def _read(self) -> None:
        """Take note of each start and each end, in their order."""
        running: dict[int, Command] = {}
        while message := self._messages.recv(64):
            first, second = message.decode().split()
            if first == "started":
                command = Command(int(second), self._pipes.get())
                running[command.pid] = command
                self._started.put(command)
            else:
                running.pop(int(first)).end(int(second))

    def _end(self) -> None:
        self._messages.shutdown(socket.SHUT_RDWR)
        self._reader.join()
        self._messages.close()
        self._process.wait()


_fork_server = cache(_ForkServer)


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {n: v for n, v in env.items() if n.startswith(_AT_START) and n != _VERSION}
