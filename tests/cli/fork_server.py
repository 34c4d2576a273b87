"""The `sealdesk` program, loaded once: for each message it forks, and the fork is one command.

A command's work takes a tenth of what Python needs to load it. A message comes with files: what to
run (JSON), and the command's standard input, output and error. It is answered with the number of
the command's process, and at its end with its exit code.
"""

import gc
import json
import multiprocessing
import os
import socket
import sys
from contextlib import suppress
from importlib import import_module

# What commands load when they come to need it; the first may be there or not.
_LATE = (
    "typer._adapters", "http.client", "rich.console", "rich.markup", "rich.progress", "rich.table",
    "sealdesk.server.app", "sealdesk.cli.demo.example_tenant", "sealdesk.server.serve",
    "sealdesk.web.body", "sealdesk.worker.loop",
)  # fmt: skip


def main() -> None:
    """Serve on the socket that the one argument names."""
    for name in ("sealdesk.cli", *_LATE):
        with suppress(ModuleNotFoundError):
            import_module(name)
    gc.freeze()  # or each fork would look at all of it again, and so copy it
    context = multiprocessing.get_context("fork")
    with socket.socket(fileno=int(sys.argv[1])) as messages:
        while True:
            message, files, _, _ = socket.recv_fds(messages, 1, 4)
            if not message:
                return
            command = context.Process(target=_run, args=files)
            command.start()
            for file in files:
                os.close(file)
            messages.send(str(command.pid).encode())
            command.join()
            messages.send(str(command.exitcode).encode())


def _run(what: int, *standard: int) -> None:
    """Be the command as it would be after its start."""
    for number, given in enumerate(standard):
        os.dup2(given, number)
    with os.fdopen(what) as file:
        told = json.load(file)
    sys.argv = told["arguments"]
    os.environ.clear()
    os.environ.update(told["env"])
    os.chdir(told["directory"])
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", 1)
    sys.exit(import_module("sealdesk.cli").main())


if __name__ == "__main__":
    main()
