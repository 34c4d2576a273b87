"""Records written in the transaction of a change: the audit log and idempotent responses."""
