"""The search documents: the indexed text of each ticket and customer, and the state of rebuilds.

All of it is derived from other tables, so a move leaves it out, and a document has no foreign key.
The full-text indexes over it, FTS5 on SQLite and GIN on PostgreSQL, are defined in migration
0071 only.
"""

from sealdesk.db.schema.definitions import ONE_SHARD, Column, id_, index, number, table, tenant


def _documents(name: str, of: str) -> None:
    table(
        name,
        tenant(),
        id_(of, key=True),
        # Rises with what a tenant has of them; by it FTS5 gives the newest first.
        number("number"),
        Column("words", "words"),
        index(f"{name}_number", "number"),
        worker="SELECT INSERT UPDATE",
        is_rebuilt=True,
    )


_documents("search_documents", "ticket_id")
_documents("customer_documents", "customer_id")
# How far a rebuild of a consumer's index has come: the last object that is indexed. NULL when the
# rebuild is finished; no row before it begins.
table(
    "search_rebuilds",
    id_("consumer", key=True),
    id_("tenant_id", null=True),
    id_("object_id", null=True),
    place=ONE_SHARD,
    worker="SELECT INSERT UPDATE",
    is_rebuilt=True,
)
