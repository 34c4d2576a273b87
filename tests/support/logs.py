"""Capturing what the service logs."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sealdesk.telemetry import logs


class _Capture(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.events: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        event = {"event": record.getMessage(), "log_level": record.levelname.lower()}
        self.events.append({**event, **logs.fields_of(record)})


@contextmanager
def captured_logs(name: str = "sealdesk") -> Iterator[list[dict[str, Any]]]:
    """The events of a logger and those below it, as dicts with `event`, `log_level`, their fields.

    Services of other tests log in the same process: name the room whose lines are counted.
    """
    logger, capture = logging.getLogger(name), _Capture()
    level = logger.level
    logger.addHandler(capture)
    logger.setLevel(logging.DEBUG)
    try:
        yield capture.events
    finally:
        logger.removeHandler(capture)
        logger.setLevel(level)
