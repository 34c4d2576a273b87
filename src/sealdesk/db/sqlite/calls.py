"""A thread that runs functions for the event loop, one after another.

It does less for each than an executor of one thread, which makes two more futures.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

# A function, and what the thread calls with its value or its error.
Call = tuple[Callable[[], Any], Callable[[Any, BaseException | None], object]]


def start_thread(name: str, calls: SimpleQueue[Call | None]) -> threading.Thread:
    """A thread that runs the calls until it gets None."""
    thread = threading.Thread(target=_run, args=(calls,), name=name, daemon=True)
    thread.start()
    return thread


def _run(calls: SimpleQueue[Call | None]) -> None:
    while (call := calls.get()) is not None:
        function, settle = call
        value, error = None, None
        try:
            value = function()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop was closed meanwhile, and nobody waits
            settle(value, error)
