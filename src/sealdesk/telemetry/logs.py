"""Logs: one line of JSON on stderr per event; never a secret, header or body.

Events are logged by the standard library: `log.warning("requests aborted", extra={"count": 2})`.
"""

import json
import logging
import os
from contextlib import suppress

from sealdesk.clock import iso

_STDERR = 2
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def configure(level: str) -> None:
    """Write the events of all loggers to stderr as JSON, from `level` up."""
    # Libraries log internals at debug level.
    logging.basicConfig(handlers=[_Stderr()], level=max(LEVELS[level], logging.INFO), force=True)
    logging.getLogger("sealdesk").setLevel(LEVELS[level])
    if level != "debug":
        # uvicorn logs each start and stop, which the service logs itself.
        logging.getLogger("uvicorn.error").setLevel(max(LEVELS[level], logging.WARNING))


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """The fields that were passed as `extra`."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, object] = {
            "timestamp": iso(int(record.created * 1e6)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **fields_of(record),
        }
        if record.exc_info:
            # Without local variables, which may hold secrets.
            event["exception"] = self.formatException(record.exc_info)
        return json.dumps({**event, "pid": os.getpid()}, default=repr)


class _Stderr(logging.Handler):
    """Writes lines to stderr. A line that cannot be written, for example to a full disk, must not
    fail the request that logs it."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(_JsonFormatter())

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            os.write(_STDERR, f"{self.format(record)}\n".encode("utf-8", "replace"))
