"""The table of what processes and commands note about the installation."""

from sealdesk.db.schema.definitions import ONE_SHARD, Expiry, index, table, text_, time_

# name: `process HOST PID` for a process, `backup` for the last backup, `directory` for the mark of
# the data directory that all hosts share, `demo` for the id of the example tenant. note: JSON, but
# of `demo`.
table(
    "installation_notes",
    text_("name", key=True),
    text_("note"),
    time_("noted_at"),
    time_("expires_at", null=True),
    index("installation_notes_expires_at", "expires_at", where="expires_at IS NOT NULL"),
    place=ONE_SHARD,
    runtime="UPDATE DELETE",
    worker="SELECT INSERT UPDATE DELETE",
    is_rebuilt=True,
    expiry=Expiry("expires_at"),
)
