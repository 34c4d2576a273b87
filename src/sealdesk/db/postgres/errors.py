"""What PostgreSQL and the way to it can answer, as the rest of the service knows it."""

import asyncpg

from sealdesk.db.engine import SerializationConflict
from sealdesk.errors import ServiceUnavailable

# Another transaction was there first, or the schema has moved on under a prepared statement.
RUN_AGAIN = (
    SerializationConflict,
    asyncpg.DivisionByZeroError,  # see statements.together
    asyncpg.UniqueViolationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.OutdatedSchemaCacheError,
)
# The connection is no use any more: it is gone, or leads to a server that takes no writes.
LOST = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.IdleSessionTimeoutError,
)
# The server's state, which passes or which its administrator mends; no fault of the request.
AWAY = (
    *LOST,
    asyncpg.TargetServerAttributeNotMatched,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.LockNotAvailableError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InsufficientPrivilegeError,
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
)
_OURS = (asyncpg.DataError, asyncpg.ClientConfigurationError)  # InterfaceErrors that are faults


def is_away(error: BaseException) -> bool:
    """Whether the database cannot be used now; all else is a fault of ours and must be seen."""
    return is_lost(error) or (isinstance(error, AWAY) and not isinstance(error, _OURS))


def is_lost(error: BaseException) -> bool:
    """Whether the connection must not be used again."""
    # What the driver says when a session ends while nobody listens; not its subclasses.
    is_confused = type(error) is asyncpg.InternalClientError
    return is_confused or (isinstance(error, LOST) and not isinstance(error, _OURS))


def away(error: BaseException) -> ServiceUnavailable:
    unavailable = ServiceUnavailable()
    unavailable.__cause__ = error
    return unavailable


def unknown(error: BaseException) -> ServiceUnavailable:
    """The connection ended between asking for the commit and its answer."""
    unavailable = ServiceUnavailable(
        detail="The database went away while it was storing this. Whether it was stored is not"
        " known: repeat the request with the same Idempotency-Key, or look first."
    )
    unavailable.__cause__ = error
    return unavailable


def too_busy(error: BaseException) -> ServiceUnavailable:
    unavailable = ServiceUnavailable(detail="Too many change this at the same time. Try again.")
    unavailable.__cause__ = error
    return unavailable
