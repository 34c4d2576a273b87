"""The SQL of single tickets and of replies; lists of tickets are in `lists`."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from sealdesk.customers import rules as customer_rules
from sealdesk.customers.types import Referred
from sealdesk.db.engine import Row, Tx
from sealdesk.paging import PageRequest
from sealdesk.resources import emails
from sealdesk.tickets import rules
from sealdesk.tickets.types import PRIORITIES, Author, Reply, Ticket

_COLUMNS = """t.tenant_id, t.id, t.number, t.subject, t.description, t.status, t.priority,
    t.source, t.customer_id, t.assignee_id, t.tags, t.custom_fields, t.external_id,
    t.reply_count, t.created_at, t.updated_at, t.first_response_at, t.resolved_at, t.closed_at,
    t.version"""
_WITH_CUSTOMER = f"""
SELECT {_COLUMNS}, c.reference, c.version AS customer_version, c.name AS customer_name
FROM tickets t JOIN customers c ON c.tenant_id = t.tenant_id AND c.id = t.customer_id
WHERE t.tenant_id = :tenant_id
"""
_FIND = f"{_WITH_CUSTOMER} AND t.id = :id LIMIT 1"
_FIND_SHOWN = """
SELECT t.document, t.version, c.reference, c.version AS customer_version
FROM tickets t JOIN customers c ON c.tenant_id = t.tenant_id AND c.id = t.customer_id
WHERE t.tenant_id = :tenant_id AND t.id = :id LIMIT 1
"""
_EXISTS = "SELECT 1 FROM tickets WHERE tenant_id = :tenant_id AND id = :id LIMIT 1"
_IS_ASSIGNABLE = """
SELECT 1 FROM users WHERE tenant_id = :tenant_id AND id = :id AND is_active LIMIT 1
"""
# The customer is looked for on the way, which spares a round trip.
_DRAW_NUMBER = """
INSERT INTO ticket_numbers (tenant_id, last_number) VALUES (:tenant_id, 1)
ON CONFLICT (tenant_id) DO UPDATE SET last_number = ticket_numbers.last_number + 1
RETURNING last_number,
    (SELECT c.reference FROM customers c WHERE c.tenant_id = :tenant_id
        AND c.email_identity = :email_identity) AS reference,
    (SELECT c.version FROM customers c WHERE c.tenant_id = :tenant_id
        AND c.email_identity = :email_identity) AS customer_version
"""
_ADD = """
INSERT INTO tickets (tenant_id, id, number, subject, description, status, priority, source,
    customer_id, assignee_id, tags, custom_fields, external_id, reply_count, created_at,
    updated_at, first_response_at, resolved_at, closed_at, version, document)
VALUES (:tenant_id, :id, :number, :subject, :description, :status, :priority, :source,
    :customer_id, :assignee_id, :tags, :custom_fields, :external_id, :reply_count, :created_at,
    :updated_at, :first_response_at, :resolved_at, :closed_at, :version, :document)
"""
_REPLACE = """
UPDATE tickets SET subject = :subject, description = :description, status = :status,
    priority = :priority, assignee_id = :assignee_id, tags = :tags,
    custom_fields = :custom_fields, external_id = :external_id, reply_count = :reply_count,
    updated_at = :updated_at, first_response_at = :first_response_at, resolved_at = :resolved_at,
    closed_at = :closed_at, version = :version, document = :document
WHERE tenant_id = :tenant_id AND id = :id AND version = :before
"""
_ADD_TAG = """
INSERT INTO ticket_tags (tenant_id, tag, ticket_id) VALUES (:tenant_id, :tag, :ticket_id)
"""
_DROP_TAG = """
DELETE FROM ticket_tags WHERE tenant_id = :tenant_id AND tag = :tag AND ticket_id = :ticket_id
"""
_ADD_REPLY = """
INSERT INTO replies (tenant_id, ticket_id, id, body, is_internal, author_type, author_id,
    author_name, created_at)
VALUES (:tenant_id, :ticket_id, :id, :body, :is_internal, :author_type, :author_id,
    :author_name, :created_at)
"""


class TicketAndCustomer(NamedTuple):
    """A ticket with what matters of its customer."""

    ticket: Ticket
    reference: bytes
    customer_version: int
    customer_name: str | None


class Shown(NamedTuple):
    """A ticket as ready JSON, and its ETag."""

    document: bytes
    etag: str


async def find(tx: Tx, tenant_id: str, ticket_id: str) -> TicketAndCustomer | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": ticket_id})
    return None if row is None else _with_customer(row)


async def list_chosen(
    tx: Tx, tenant_id: str, ticket_ids: Collection[str]
) -> list[TicketAndCustomer]:
    """These tickets; what is not there is left out."""
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": len(ticket_ids)}
    keys = _bound(ticket_ids, params)
    sql = f"{_WITH_CUSTOMER} AND t.id IN ({keys}) ORDER BY t.id LIMIT :limit"
    return [_with_customer(row) for row in await tx.fetch_all(sql, params)] if keys else []


async def find_shown(tx: Tx, tenant_id: str, ticket_id: str) -> Shown | None:
    row = await tx.fetch_one(_FIND_SHOWN, {"tenant_id": tenant_id, "id": ticket_id})
    if row is None:
        return None
    return Shown(
        rules.with_customer(row["document"], row["reference"]),
        rules.etag(row["version"], row["customer_version"]),
    )


async def has_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> bool:
    return await tx.fetch_one(_EXISTS, {"tenant_id": tenant_id, "id": ticket_id}) is not None


async def is_assignable(tx: Tx, tenant_id: str, user_id: str) -> bool:
    """Whether a ticket of the tenant can be assigned to this user."""
    return await tx.fetch_one(_IS_ASSIGNABLE, {"tenant_id": tenant_id, "id": user_id}) is not None


async def draw_number(tx: Tx, tenant_id: str, email: str) -> tuple[int, Referred | None]:
    """A ticket number that the tenant never had, and the customer with this address, if any."""
    params = {"tenant_id": tenant_id, "email_identity": emails.identity(email)}
    row = await tx.execute_returning(_DRAW_NUMBER, params)
    if row["reference"] is None:
        return row["last_number"], None
    customer = customer_rules.read_reference(row["reference"], row["customer_version"])
    return row["last_number"], customer


async def add(tx: Tx, ticket: Ticket) -> bytes:
    """Store a new ticket; its ready JSON."""
    document = rules.document(ticket)
    await tx.execute_one(_ADD, _params(ticket, document))
    await _for_each_tag(tx, _ADD_TAG, ticket, ticket.tags)
    return document


async def replace(tx: Tx, before: Ticket, after: Ticket) -> bytes:
    """Store everything that has changed; the ticket's ready JSON."""
    document = rules.document(after)
    await tx.execute_one(_REPLACE, _params(after, document) | {"before": before.version})
    if before.tags != after.tags:
        kept = {*before.tags} & {*after.tags}
        await _for_each_tag(tx, _DROP_TAG, after, [t for t in before.tags if t not in kept])
        await _for_each_tag(tx, _ADD_TAG, after, [t for t in after.tags if t not in kept])
    return document


async def _for_each_tag(tx: Tx, sql: str, ticket: Ticket, tags: Sequence[str]) -> None:
    for tag in tags:
        await tx.execute_one(
            sql, {"tenant_id": ticket.tenant_id, "tag": tag, "ticket_id": ticket.id}
        )


async def list_names(tx: Tx, tenant_id: str, user_ids: Collection[str]) -> dict[str, str]:
    """The names of people by their id; who is not there is left out."""
    params: dict[str, object] = {"tenant_id": tenant_id, "limit": len(user_ids)}
    keys = _bound(user_ids, params)
    sql = (
        f"SELECT id, name FROM users WHERE tenant_id = :tenant_id AND id IN ({keys})"
        " ORDER BY id LIMIT :limit"
    )
    return {row["id"]: row["name"] for row in await tx.fetch_all(sql, params)} if keys else {}


async def add_reply(tx: Tx, reply: Reply) -> None:
    await tx.execute_one(
        _ADD_REPLY,
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
        },
    )


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
    rows = await tx.fetch_all(
        "SELECT tenant_id, ticket_id, id, body, is_internal, author_type, author_id, author_name,"
        f" created_at FROM replies WHERE {' AND '.join(conditions)}"
        f" ORDER BY id {order} LIMIT :limit",
        params | {"limit": page.per_page + 1},
    )
    return [_reply(row) for row in rows]


def _bound(ids: Collection[str], params: dict[str, object]) -> str:
    """The names of these ids among the parameters, for IN."""
    bound = {f"id_{place}": each for place, each in enumerate(ids)}
    params.update(bound)
    return ", ".join(f":{key}" for key in bound)


def _with_customer(row: Row) -> TicketAndCustomer:
    return TicketAndCustomer(
        _ticket(row), row["reference"], row["customer_version"], row["customer_name"]
    )


def _ticket(row: Row) -> Ticket:
    values = dict(row)
    values["priority"] = PRIORITIES[values["priority"] - 1]
    values["tags"] = tuple(msgspec.json.decode(values["tags"]))
    values["custom_fields"] = msgspec.json.decode(values["custom_fields"])
    return Ticket(**{name: values[name] for name in Ticket.__struct_fields__})


def _reply(row: Row) -> Reply:
    values = dict(row)
    author = Author(*(values.pop(f"author_{part}") for part in ("type", "id", "name")))
    values["is_internal"] = bool(values["is_internal"])
    return Reply(**values, author=author)


def _params(ticket: Ticket, document: bytes) -> dict[str, object]:
    return msgspec.structs.asdict(ticket) | {
        "priority": rules.rank_of(ticket.priority),
        "tags": msgspec.json.encode(ticket.tags).decode(),
        "custom_fields": msgspec.json.encode(ticket.custom_fields).decode(),
        "document": document,
    }
