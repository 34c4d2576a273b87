"""Classifies the errors of asyncpg and translates them to the service's own."""

import asyncpg

from sealdesk.db.engine import SerializationConflict
from sealdesk.errors import ProblemType, ServiceUnavailable
from sealdesk.errors.general import STORAGE_UNAVAILABLE, TENANT_MOVES


class TenantMoves(asyncpg.PostgresError):
    """A trigger of `sealdesk move --tenant` refused the write. asyncpg finds it by its code."""

    sqlstate = "SD001"


# Another transaction was first, or the schema changed under a prepared statement.
RETRYABLE = (
    SerializationConflict,
    asyncpg.DivisionByZeroError,  # see statements.together
    asyncpg.UniqueViolationError,
    asyncpg.ForeignKeyViolationError,  # the row that a new one refers to was deleted meanwhile
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.OutdatedSchemaCacheError,
)
# The connection is closed, or leads to a server that takes no writes.
CONNECTION_LOST = (
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
# The state of the server, temporary or for its administrator to repair; not a fault of the request.
UNAVAILABLE = (
    *CONNECTION_LOST,
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
    TenantMoves,
)
# The server reads, but cannot store.
CANNOT_WRITE = (asyncpg.DiskFullError, asyncpg.PostgresIOError, asyncpg.ReadOnlySQLTransactionError)
_DEFECTS = (
    asyncpg.DataError,
    asyncpg.ClientConfigurationError,
)  # InterfaceErrors that are bugs of ours
# Of the statement or the schema, so that trying again does not help.
_MISTAKES = (asyncpg.SyntaxOrAccessError, asyncpg.ForeignKeyViolationError)


def is_unavailable(error: BaseException) -> bool:
    """Whether the database is unusable at present; every other error is a bug and must surface."""
    return is_connection_lost(error) or (
        isinstance(error, UNAVAILABLE) and not isinstance(error, _DEFECTS)
    )


def is_connection_lost(error: BaseException) -> bool:
    """Whether the connection must not be used again."""
    # asyncpg raises this itself, not a subclass, when a session ends between two statements.
    is_desynchronised = type(error) is asyncpg.InternalClientError
    return is_desynchronised or (
        isinstance(error, CONNECTION_LOST) and not isinstance(error, _DEFECTS)
    )


def unavailable(
    error: BaseException, problem_type: ProblemType = STORAGE_UNAVAILABLE
) -> ServiceUnavailable:
    """What to raise from an error of the database."""
    is_moving = isinstance(error, TenantMoves)
    response = ServiceUnavailable(TENANT_MOVES if is_moving else problem_type)
    response.is_mistake = isinstance(error, _MISTAKES)
    return response
