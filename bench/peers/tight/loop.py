"""The tight loop, which the writes of the service are compared with.

`python -m bench.peers.tight.loop DATABASE MEMORY REQUESTS`: checks the signature of each request,
decodes its body, and writes the rows of `schema.sql`, 32 requests in a transaction that is flushed
to the disk: the shortest Python that does so, without a service. Prints JSON: {count, elapsed_s,
cpu_s}.
"""

import sqlite3
import sys
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from bench.peers.bare import Memory
from sealdesk.crypto.signing import Signed, is_valid

GROUP = 32
_PRIORITIES = {"low": 1, "medium": 2, "high": 3, "urgent": 4}
_PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "cache_size = -16384")
_CUSTOMER = "SELECT id, reference FROM customers WHERE tenant_id = ? AND email_identity = ?"
_TICKET = "SELECT document, version FROM tickets WHERE tenant_id = ? AND id = ?"
_ADD_CUSTOMER = """
INSERT INTO customers (tenant_id, id, email, email_identity, name, metadata, reference, created_at,
    updated_at, version) VALUES (?1, ?2, ?3, ?3, ?4, '{}', ?5, ?6, ?6, 1)"""
_ADD_TICKET = """
INSERT INTO tickets (tenant_id, id, number, subject, description, status, priority, source,
    customer_id, tags, custom_fields, reply_count, created_at, updated_at, version, document,
    waiting_since, last_message_at, snippet)
VALUES (?1, ?2, ?3, ?4, ?5, 'open', ?6, 'api', ?7, '[]', '{}', 0, ?8, ?8, 1, ?9, ?8, ?8, ?10)"""
_CHANGE = """
UPDATE tickets SET priority = ?, custom_fields = ?, updated_at = ?, version = ?, document = ?
WHERE tenant_id = ? AND id = ?"""
_ANSWER = """
UPDATE tickets SET waiting_since = NULL, reply_count = reply_count + 1, last_reply_by = 'api_key',
    updated_at = ?1, last_message_at = ?1, snippet = ?2, version = ?3, document = ?4
WHERE tenant_id = ?5 AND id = ?6"""
_ADD_CHANGE = "INSERT INTO ticket_changes VALUES (?, ?, ?, 'api_key', ?, 'bench', ?, ?)"
_ADD_REPLY = """
INSERT INTO replies (tenant_id, ticket_id, id, body, is_internal, author_type, author_id,
    author_name, created_at) VALUES (?, ?, ?, ?, 0, 'api_key', ?, 'bench', ?)"""
_ADD_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_COUNT = "UPDATE counters SET number = ?, position = ? WHERE tenant_id = ?"
_encode = msgspec.json.Encoder().encode
_decode_document = msgspec.json.Decoder(dict[str, Any]).decode


class _Customer(msgspec.Struct):
    email: str
    name: str | None = None


class _NewTicket(msgspec.Struct):
    subject: str
    description: str
    customer: _Customer
    priority: str = "medium"


class _Change(msgspec.Struct):
    priority: str
    custom_fields: dict[str, int] = {}


class _Reply(msgspec.Struct):
    body: str


_decode_ticket = msgspec.json.Decoder(_NewTicket).decode
_decode_change = msgspec.json.Decoder(_Change).decode
_decode_reply = msgspec.json.Decoder(_Reply).decode


class Loop:
    """Writes requests to the database."""

    def __init__(self, path: Path, memory: Memory) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        for pragma in _PRAGMAS:
            self._connection.execute(f"PRAGMA {pragma}")
        self._execute = self._connection.execute
        self._secrets, self._tenants = memory.secrets, memory.tenants
        rows = self._execute("SELECT tenant_id, number, position FROM counters").fetchall()
        self._counters = {tenant_id: [number, position] for tenant_id, number, position in rows}
        self._log_position = count(time.time_ns())
        self._ids = count(time.time_ns())

    def run(self, requests: list[bytes]) -> None:
        """Write all. Raises ValueError for a wrong signature."""
        for start in range(0, len(requests), GROUP):
            self._execute("BEGIN IMMEDIATE")
            touched = {self._write(request) for request in requests[start : start + GROUP]}
            for tenant_id in touched:
                self._execute(_COUNT, (*self._counters[tenant_id], tenant_id))
            self._execute("COMMIT")

    def _write(self, request: bytes) -> str:
        head, _, body = request.partition(b"\r\n\r\n")
        first, _, key, timestamp, signature, *_ = head.split(b"\r\n")
        method, target, _ = first.split(b" ")
        key_text = key[11:].decode()
        parts = Signed(timestamp[17:], method, target, body)
        if not is_valid(self._secrets[key_text], parts, signature[17:]):
            raise ValueError("a signature of the benchmark is wrong")
        tenant_id = self._tenants[key_text]
        write: Callable[[str, str, bytes, int], None] = self._add_ticket
        if method == b"PATCH":
            write = self._change_ticket
        elif target.endswith(b"/replies"):
            write = self._add_reply
        ticket_id = target.split(b"/")[5].decode() if target.count(b"/") > 4 else ""
        write(tenant_id, ticket_id, body, time.time_ns() // 1000)
        return tenant_id

    def _add_ticket(self, tenant_id: str, _: str, body: bytes, now_us: int) -> None:
        new = _decode_ticket(body)
        customer_id, reference = self._find_or_add_customer(tenant_id, new.customer, now_us)
        counters = self._counters[tenant_id]
        counters[0] += 1
        ticket_id = self._next_id()
        document = _encode(_new_document(ticket_id, counters[0], new, now_us))
        priority = _PRIORITIES[new.priority]
        row = (tenant_id, ticket_id, counters[0], new.subject, new.description, priority)
        self._execute(_ADD_TICKET, (*row, customer_id, now_us, document, new.description[:160]))
        self._add_event(tenant_id, "ticket.created", _with(document, reference), "{}", now_us)

    def _find_or_add_customer(
        self, tenant_id: str, new: _Customer, now_us: int
    ) -> tuple[str, bytes]:
        found = self._execute(_CUSTOMER, (tenant_id, new.email)).fetchone()
        if found is not None:
            return found[0], found[1]
        new_id = self._next_id()
        reference = _encode({"id": new_id, "email": new.email, "name": new.name})
        self._execute(_ADD_CUSTOMER, (tenant_id, new_id, new.email, new.name, reference, now_us))
        self._add_event(tenant_id, "customer.created", reference, "{}", now_us)
        return new_id, reference

    def _change_ticket(self, tenant_id: str, ticket_id: str, body: bytes, now_us: int) -> None:
        change = _decode_change(body)
        document, version = self._execute(_TICKET, (tenant_id, ticket_id)).fetchone()
        ticket = _decode_document(document)
        changes = _encode({"priority": [ticket["priority"], change.priority]}).decode()
        ticket["priority"] = change.priority
        ticket["custom_fields"].update(change.custom_fields)
        fields = _encode(ticket["custom_fields"]).decode()
        ticket["updated_at"], ticket["version"] = _iso(now_us), version + 1
        document = _encode(ticket)
        row = (_PRIORITIES[change.priority], fields, now_us, version + 1, document)
        self._execute(_CHANGE, (*row, tenant_id, ticket_id))
        ids = (tenant_id, ticket_id, self._next_id(), ticket_id)
        self._execute(_ADD_CHANGE, (*ids, changes, now_us))
        self._add_event(tenant_id, "ticket.updated", document, changes, now_us)

    def _add_reply(self, tenant_id: str, ticket_id: str, body: bytes, now_us: int) -> None:
        reply = _decode_reply(body)
        document, version = self._execute(_TICKET, (tenant_id, ticket_id)).fetchone()
        ticket = _decode_document(document)
        ticket["reply_count"] += 1
        ticket["last_reply_by"], ticket["waiting_since"] = "api_key", None
        ticket["updated_at"], ticket["version"] = _iso(now_us), version + 1
        reply_id = self._next_id()
        row = (tenant_id, ticket_id, reply_id, reply.body, ticket_id, now_us)
        self._execute(_ADD_REPLY, row)
        changed = (now_us, reply.body[:160], version + 1, _encode(ticket), tenant_id, ticket_id)
        self._execute(_ANSWER, changed)
        shown = {"id": reply_id, "ticket_id": ticket_id, "body": reply.body}
        self._add_event(tenant_id, "reply.created", _encode(shown), "{}", now_us)

    def _add_event(
        self, tenant_id: str, kind: str, document: bytes, changes: str, now_us: int
    ) -> None:
        counters = self._counters[tenant_id]
        counters[1] += 1
        positions = (counters[1], next(self._log_position))
        self._execute(
            _ADD_EVENT,
            (tenant_id, self._next_id(), kind, document, changes, now_us, *positions),
        )

    def _next_id(self) -> str:
        return f"{next(self._ids):036x}"


def _new_document(ticket_id: str, number: int, new: _NewTicket, now_us: int) -> dict[str, Any]:
    at = _iso(now_us)
    nothing = dict.fromkeys(_EMPTY_FIELDS)
    return {
        "id": ticket_id,
        "number": number,
        "subject": new.subject,
        "description": new.description,
        "status": "open",
        "priority": new.priority,
        "source": "api",
        **nothing,
        "tags": [],
        "custom_fields": {},
        "reply_count": 0,
        "attachments": [],
        "created_at": at,
        "updated_at": at,
        "waiting_since": at,
        "version": 1,
    }


_EMPTY_FIELDS = (
    "assignee_id",
    "team_id",
    "external_id",
    "last_reply_by",
    "merged_into_id",
    "snoozed_until",
    "first_response_at",
    "resolved_at",
    "closed_at",
    "last_customer_reply_at",
)


def _iso(now_us: int) -> str:
    seconds, fraction = divmod(now_us, 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{fraction:06d}Z"


def _with(document: bytes, reference: bytes) -> bytes:
    return b"".join((document[:-1], b',"customer":', reference, b"}"))


def main(arguments: Iterable[str]) -> None:
    database, memory, requests = map(Path, arguments)
    loop = Loop(database, msgspec.json.decode(memory.read_bytes(), type=Memory))
    sent = msgspec.msgpack.decode(requests.read_bytes(), type=list[bytes])
    began_s, cpu_s = time.perf_counter(), time.process_time()
    loop.run(sent)
    elapsed_s, used_s = time.perf_counter() - began_s, time.process_time() - cpu_s
    print(msgspec.json.encode({"elapsed_s": elapsed_s, "cpu_s": used_s}).decode())


if __name__ == "__main__":
    main(sys.argv[1:])
