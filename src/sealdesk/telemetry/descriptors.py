"""Notices that a process has no file descriptor left, and raises its limit at the start.

Every connection, file and pipe needs a descriptor. Without one, the event loop closes each new
connection at once and reports nothing (libuv, uv__emfile_trick).
"""

import asyncio
import contextlib
import errno
import logging
import os
import resource
import time
from collections.abc import Callable

WATCH_EVERY_S = 1.0
_LOG_EVERY_S = 60.0
_LOW_LIMIT = 4096  # less than the idle connections that one process keeps without effort
_ADVICE = "raise the hard limit: LimitNOFILE= of the systemd unit, or `ulimit -Hn`"

log = logging.getLogger("sealdesk.descriptors")


def raise_limit() -> None:
    """Raise the soft limit to the hard one, and log when that is low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    if soft < _LOW_LIMIT:
        log.warning("few file descriptors", extra={"limit": soft, "advice": _ADVICE})


async def watch(count_exhausted: Callable[[], None]) -> None:
    """Look every second until cancelled; call it, and log once a minute, when none is left."""
    logged_at = -_LOG_EVERY_S
    while True:
        await asyncio.sleep(WATCH_EVERY_S)
        if not is_exhausted():
            continue
        count_exhausted()
        if time.monotonic() - logged_at >= _LOG_EVERY_S:
            logged_at = time.monotonic()
            limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
            log.error(
                "no file descriptor is left: new connections are closed",
                extra={"limit": limit, "advice": _ADVICE},
            )


def is_exhausted() -> bool:
    """Whether this process, or the machine, can open no further file."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False
