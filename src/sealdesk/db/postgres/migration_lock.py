"""The lock that whoever migrates holds, and that background work looks at."""

_LOCK = 0x5EA1DE5C  # an advisory lock
HOLD = (
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    f"SELECT pg_advisory_xact_lock({_LOCK})",
)
# Held for the transaction of the look, which a migration that begins waits for.
LOOK = f"SELECT pg_try_advisory_xact_lock_shared({_LOCK}) AS is_free LIMIT 1"
