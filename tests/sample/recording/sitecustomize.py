"""Notes what each test sends to PostgreSQL: Python imports this first in every process.

A line of `*.statements` is the hash of a statement, and of its error if it has one, and the test.
"""

import hashlib
import os
import re
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any

from asyncpg import Connection

_FILE = Path(os.environ["SAMPLE_DIRECTORY"], f"{os.getpid()}.statements")
_METHODS = ("execute", "executemany", "fetch", "fetchrow", "fetchval", "prepare")
# What differs from run to run, and lists of any length.
_VALUES = re.compile(r"'[^']*'|(?:\$\d+, )*\$\d+|\d+|desk_\w+")
_noted = set[str]()


def _note(statement: str, error: str = "") -> None:
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition("[")[0]
    text = error + _VALUES.sub("?", statement)
    line = f"{hashlib.sha256(text.encode()).hexdigest()[:16]}\t{test}\n"
    if test and line not in _noted:
        _noted.add(line)
        with _FILE.open("a") as file:
            file.write(line)


def _noting(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(method)
    async def run(self: Connection, statement: str, *arguments: Any, **named: Any) -> Any:
        _note(statement)
        try:
            return await method(self, statement, *arguments, **named)
        except Exception as error:
            _note(statement, type(error).__name__)
            raise

    return run


for each in _METHODS:
    setattr(Connection, each, _noting(getattr(Connection, each)))
