"""Translates the errors of SQLite to the service's own."""

import sqlite3

from sealdesk.db.sqlite.files import FilesLost
from sealdesk.errors import ApiError, ServiceUnavailable
from sealdesk.errors.general import COMMIT_UNKNOWN, STORAGE_UNAVAILABLE


class TransactionLost(sqlite3.OperationalError):
    """SQLite has rolled back the whole transaction, as it does when the disk is full.

    The next statement would silently start a new one, and only the second half of a group would
    be stored.
    """


def translate(error: BaseException) -> BaseException:
    """The error of a caller whose work raised this one."""
    if isinstance(error, ApiError) or not isinstance(error, sqlite3.Error):
        return error
    # A violated constraint is a bug and must surface; all else is the state of the disk.
    if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
        return error
    return unavailable(error)


def unavailable(error: sqlite3.Error) -> ServiceUnavailable:
    is_unknown = isinstance(error, FilesLost)
    response = ServiceUnavailable(COMMIT_UNKNOWN if is_unknown else STORAGE_UNAVAILABLE)
    response.__cause__ = error
    response.is_mistake = _is_mistake(error)
    return response


def _is_mistake(error: sqlite3.Error) -> bool:
    """Whether SQLite has refused the statement, not the state of the disk."""
    code = getattr(error, "sqlite_errorcode", None)  # of errors that SQLite itself has raised
    return isinstance(error, sqlite3.DataError) or code == sqlite3.SQLITE_ERROR
