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
def captured_logs() -> Iterator[list[dict[str, Any]]]:
    """The events of `sealdesk` loggers, as dicts with `event`, `log_level` and their fields."""
    logger, capture = logging.getLogger("sealdesk"), _Capture()
    level = logger.level
    logger.addHandler(capture)
    logger.setLevel(logging.DEBUG)
    try:
        yield capture.events
    finally:
        logger.removeHandler(capture)
        logger.setLevel(level)
