"""The `sealdesk` program, imported once: it forks for each message and runs one command.

Importing a command takes ten times as long as running it. A message is "alone", or "group" for a
process group of its own, and has four files: the command (JSON), and its standard input, output and
error. The replies are "started PID", and at the end of a command "PID EXIT_CODE". Commands run
beside each other; those that still run when the socket is closed are ended. The process in which a
command migrates a database is a fork too.
"""

import gc
import json
import multiprocessing
import os
import socket
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing import connection
from multiprocessing.context import ForkProcess
from typing import IO, Any

from sealdesk.cli.commands import OF_INTEGRATORS, OF_SERVICE

# Modules that commands import when they need them; the first may be missing.
_LATE = (
    "typer._adapters", "http.client", "rich.console", "rich.markup",
    "rich.progress", "rich.table", "sealdesk.db.migrate", "sealdesk.server.app",
    "sealdesk_demo.example_tenant", "sealdesk.server.serve", "sealdesk.web.body",
    "sealdesk.worker.loop",
)  # fmt: skip


def main() -> None:
    """Serve on the socket whose file descriptor is the argument."""
    commands = [row.module for row in (OF_SERVICE | OF_INTEGRATORS).values()]
    for name in ("sealdesk.cli.program", *commands, *_LATE):
        with suppress(ModuleNotFoundError):
            import_module(name)
    gc.freeze()  # otherwise the collector of each fork would touch, and so copy, all objects
    running: dict[int, ForkProcess] = {}  # by sentinel
    with socket.socket(fileno=int(sys.argv[1])) as messages:
        while True:
            for ready in connection.wait([messages.fileno(), *running]):
                if ready != messages.fileno():
                    _report(messages, running.pop(ready))  # type: ignore[arg-type]
                elif (command := _start(messages)) is None:
                    for left in running.values():
                        left.terminate()
                    return
                else:
                    running[command.sentinel] = command


def _start(messages: socket.socket) -> ForkProcess | None:
    """Fork for the next message; None: there is none any more."""
    message, files, _, _ = socket.recv_fds(messages, 8, 4)
    if not message:
        return None
    command = multiprocessing.get_context("fork").Process(target=_run, args=(messages, *files))
    command.start()
    if message == b"group" and command.pid:
        os.setpgid(command.pid, command.pid)
    for file in files:
        os.close(file)
    messages.send(f"started {command.pid}".encode())
    return command


def _report(messages: socket.socket, command: ForkProcess) -> None:
    command.join()
    messages.send(f"{command.pid} {command.exitcode}".encode())


def _run(messages: socket.socket, what: int, *standard: int) -> None:
    """Run the command in this fork as after a normal start."""
    messages.close()
    for number, given in enumerate(standard):
        os.dup2(given, number)
        os.close(given)
    with os.fdopen(what) as file:
        told = json.load(file)
    sys.argv = told["arguments"]
    os.environ.clear()
    os.environ.update(told["env"])
    os.chdir(told["directory"])
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", 1)
    with suppress(ModuleNotFoundError):
        schema_version: Any = import_module("sealdesk.db.migrations.schema_version")
        schema_version._start_child = _ForkedMigration
    sys.exit(import_module("sealdesk.cli").main())


class _ForkedMigration:
    """Stands for the process that migrates, which would import for most of a second."""

    def __init__(self, errors: IO[str]) -> None:
        given, ours, read, told = *os.pipe(), *os.pipe()
        self.stdin, self.stdout = os.fdopen(ours, "w"), os.fdopen(read)
        fork = multiprocessing.get_context("fork").Process
        self._process = fork(target=self._migrate, args=(given, told, errors.fileno()))
        self._process.start()
        os.close(given)
        os.close(told)

    def _migrate(self, given: int, told: int, errors: int) -> None:
        self.stdin.close()
        self.stdout.close()
        os.dup2(told, 1)
        os.dup2(errors, 2)
        with os.fdopen(given) as request:
            import_module("sealdesk.db.migrate").main(json.load(request))

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def __enter__(self) -> "_ForkedMigration":
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.wait()


if __name__ == "__main__":
    main()
