"""A disk whose commits a test can hold."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest


class Disk:
    """Counts the commits, and holds each until `goes_on` is set."""

    def __init__(self) -> None:
        self.commits = 0
        self.is_asked = threading.Event()
        self.goes_on = threading.Event()
        self.goes_on.set()

    def stand_still(self) -> None:
        """Hold further commits, and count from zero."""
        self.commits = 0
        self.is_asked.clear()
        self.goes_on.clear()

    def see(self, sql: str) -> None:
        if sql == "COMMIT":
            self.commits += 1
            self.is_asked.set()
            self.goes_on.wait(40)


@contextmanager
def watched_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """The disk of every database that is opened later."""
    disk = Disk()

    class Connection(sqlite3.Connection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.set_trace_callback(disk.see)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Connection))
    try:
        yield disk
    finally:
        disk.goes_on.set()
