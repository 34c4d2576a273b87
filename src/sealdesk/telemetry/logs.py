"""Logs: one line of JSON on stderr for each thing worth telling; never a secret, header or body."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_STDERR = 2
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


@contextmanager
def _without_rich() -> Iterator[None]:
    """structlog imports rich for coloured output, which is not used here and costs the server
    60 ms and 7 MiB (2026-11, structlog 26.1); it copes when rich is not there."""
    is_absent = "rich" not in sys.modules
    if is_absent:
        sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if is_absent:
            del sys.modules["rich"]


with _without_rich():
    import structlog
    from structlog.typing import EventDict


def configure(level: str) -> None:
    """Send what structlog and the standard library log to stderr as JSON, from `level` up."""
    structlog.configure(
        processors=[
            structlog.stdlib.add_logger_name,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # The plain traceback: the structured one shows local variables, secrets among them.
            structlog.processors.format_exc_info,
            _with_process,
            _in_reading_order,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=_Lines,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_Forward()], level=max(LEVELS[level], logging.INFO), force=True)
    if level != "debug":
        # It tells of each start and stop in its own words.
        logging.getLogger("uvicorn.error").setLevel(max(LEVELS[level], logging.WARNING))


def _with_process(logger: object, method: str, event: EventDict) -> EventDict:
    return {**event, "pid": os.getpid()}


def _in_reading_order(logger: object, method: str, event: EventDict) -> EventDict:
    first = ("timestamp", "level", "logger", "event")
    return {**{name: event.pop(name) for name in first}, **event}


class _Lines:
    """Writes lines to stderr. A line that cannot be written, to a full disk for instance, must
    not fail the request that it tells of."""

    def __init__(self, name: str = "sealdesk") -> None:
        self.name = name

    def msg(self, line: str) -> None:
        with suppress(OSError):
            os.write(_STDERR, f"{line}\n".encode("utf-8", "replace"))

    debug = info = warning = error = critical = msg


class _Forward(logging.Handler):
    """Hands what the standard library's loggers are told to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        logger = structlog.get_logger(record.name)
        logger.log(record.levelno, record.getMessage(), exc_info=record.exc_info)
