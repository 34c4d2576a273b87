"""Runs functions beside the event loop, and charges their processor time to the request."""

import asyncio
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import ParamSpec, TypeVar

from sealdesk.db import deadline

P = ParamSpec("P")
T = TypeVar("T")


async def run_in(
    threads: Executor | None, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """What a function returns, run in a thread. threads: None for those of the event loop."""
    used_ns = 0

    def measured() -> T:
        nonlocal used_ns
        began_ns = time.thread_time_ns()
        try:
            return function(*args, **kwargs)
        finally:
            used_ns = time.thread_time_ns() - began_ns

    context = contextvars.copy_context()
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, context.run, measured)
    finally:
        charge(used_ns)


def charge(used_ns: int) -> None:
    """Charge processor time that was used elsewhere to the request that runs now, if one does."""
    deadline.current().beside_ns += used_ns
