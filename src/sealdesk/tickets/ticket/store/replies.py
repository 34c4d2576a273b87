"""The SQL of replies."""

from collections.abc import Sequence

from sealdesk.db.column_lists import insert_into, select_row, update_row
from sealdesk.db.engine import Row, Tx
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.types import Author, Reply

_ADD = insert_into(
    "replies",
    "tenant_id ticket_id id body is_internal author_type author_id author_name created_at"
    " attachments",
)
_FIND = select_row(
    "replies",
    "tenant_id, ticket_id, id, body, is_internal, author_type, author_id, author_name, created_at,"
    " attachments, delivery, delivery_reason, delivery_at",
    "tenant_id ticket_id id",
)
_STORE_BODY = update_row("replies", "body", key="tenant_id ticket_id id")
_NEWEST_TEXTS = """
SELECT substr(body, 1, 4000) AS body FROM replies
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id ORDER BY id DESC LIMIT :limit
"""
_TEXTS_OF_A_TICKET = 5


async def add(tx: Tx, reply: Reply) -> None:
    await tx.execute_one(
        _ADD,
        {
            "tenant_id": reply.tenant_id,
            "ticket_id": reply.ticket_id,
            "id": reply.id,
            "body": reply.body,
            "is_internal": reply.is_internal,
            "author_type": reply.author.type,
            "author_id": reply.author.id,
            "author_name": reply.author.name,
            "created_at": reply.created_at,
            "attachments": documents.encode_attachments(reply.attachments),
        },
    )


async def store_body(tx: Tx, reply: Reply) -> None:
    key = {"tenant_id": reply.tenant_id, "ticket_id": reply.ticket_id, "id": reply.id}
    await tx.execute_one(_STORE_BODY, {**key, "body": reply.body})


async def find(tx: Tx, tenant_id: str, ticket_id: str, reply_id: str) -> Reply | None:
    row = await tx.fetch_one(
        _FIND, {"tenant_id": tenant_id, "ticket_id": ticket_id, "id": reply_id}
    )
    return None if row is None else _reply(row)


async def list_replies(
    tx: Tx,
    tenant_id: str,
    ticket_id: str,
    page: PageRequest,
    *,
    is_internal: bool | None,
    newest_first: bool,
) -> list[Reply]:
    """In order of creation; one more than the page when there are more."""
    conditions = ["tenant_id = :tenant_id", "ticket_id = :ticket_id"]
    params: dict[str, object] = {"tenant_id": tenant_id, "ticket_id": ticket_id}
    if is_internal is not None:
        conditions.append("is_internal = :is_internal")
        params["is_internal"] = is_internal
    if page.after is not None:
        conditions.append("id < :after" if newest_first else "id > :after")
        params["after"] = page.after[0]
    order = "DESC" if newest_first else "ASC"
    rows = await tx.fetch_page(
        "SELECT tenant_id, ticket_id, id, body, is_internal, author_type, author_id, author_name,"
        " created_at, attachments, delivery, delivery_reason, delivery_at FROM replies"
        f" WHERE {' AND '.join(conditions)}"
        f" ORDER BY id {order} LIMIT :limit",
        params | {"limit": page.per_page + 1},
        ("body",),
        page.max_bytes,
    )
    return [_reply(row) for row in rows]


async def list_newest_texts(tx: Tx, tenant_id: str, ticket_ids: Sequence[str]) -> list[list[str]]:
    """The beginnings of the newest replies of each ticket."""
    params = [
        {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": _TEXTS_OF_A_TICKET}
        for ticket_id in ticket_ids
    ]
    found = await tx.fetch_for_each(_NEWEST_TEXTS, params)
    return [[row["body"] for row in rows] for rows in found]


def _reply(row: Row) -> Reply:
    return Reply(
        tenant_id=row["tenant_id"],
        ticket_id=row["ticket_id"],
        id=row["id"],
        body=row["body"],
        is_internal=bool(row["is_internal"]),
        author=Author(row["author_type"], row["author_id"], row["author_name"]),
        created_at=row["created_at"],
        attachments=documents.decode_attachments(row["attachments"]),
        delivery=row["delivery"],
        delivery_reason=row["delivery_reason"],
        delivery_at=row["delivery_at"],
    )
