"""What was already answered: a repeated POST gets the first answer again (decisions 10)."""

import hashlib
import re
from typing import NamedTuple

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.errors import BadRequest, ValidationFailed

KEPT_US = 24 * 3600 * 1_000_000
_KEY = re.compile(r"[\x20-\x7e]{1,255}")

_FIND = """
SELECT fingerprint, status, body, headers FROM idempotency
WHERE tenant_id = :tenant_id AND key_id = :key_id AND scope = :scope AND stored_at > :kept_since
LIMIT 1
"""
_STORE = """
INSERT INTO idempotency (tenant_id, key_id, scope, fingerprint, status, body, headers, stored_at)
VALUES (:tenant_id, :key_id, :scope, :fingerprint, :status, :body, :headers, :stored_at)
ON CONFLICT (tenant_id, key_id, scope) DO UPDATE SET
    fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
    headers = excluded.headers, stored_at = excluded.stored_at
"""
_PRUNE = """
DELETE FROM idempotency WHERE (tenant_id, key_id, scope) IN
    (SELECT tenant_id, key_id, scope FROM idempotency WHERE stored_at <= :kept_since LIMIT :limit)
"""


class Once(NamedTuple):
    """A request that is to have its effect once: whose key, which scope, which body."""

    tenant_id: str
    key_id: str
    scope: str
    fingerprint: bytes

    @property
    def lock_name(self) -> str:
        """What at most one of the copies holds at a time."""
        return f"once {self.tenant_id} {self.key_id} {self.scope}"


class Stored(NamedTuple):
    """An answer as it was given the first time."""

    status: int
    body: bytes
    headers: list[tuple[str, str]]


def once(tenant_id: str, key_id: str, *, key: str, method: str, path: str, body: bytes) -> Once:
    """What the Idempotency-Key of a request means. Raises Malformed for a bad key."""
    if _KEY.fullmatch(key) is None:
        raise BadRequest(
            "invalid_header", "Idempotency-Key must be 1 to 255 printable ASCII characters."
        )
    return Once(tenant_id, key_id, f"{method} {path} {key}", hashlib.sha256(body).digest())


async def find(tx: Tx, once: Once, now_us: int) -> Stored | None:
    """The answer that was stored for this request.

    Raises Invalid when the key was used for another body.
    """
    row = await tx.fetch_one(
        _FIND,
        {
            "tenant_id": once.tenant_id,
            "key_id": once.key_id,
            "scope": once.scope,
            "kept_since": now_us - KEPT_US,
        },
    )
    if row is None:
        return None
    if row["fingerprint"] != once.fingerprint:
        raise ValidationFailed(
            "idempotency_key_reused",
            "This Idempotency-Key was used for another body within 24 hours. Use a new key for a"
            " new request, and the same body for a repeated one.",
        )
    headers = msgspec.json.decode(row["headers"], type=list[tuple[str, str]])
    return Stored(row["status"], row["body"], headers)


async def store(tx: Tx, once: Once, response: Stored, now_us: int) -> None:
    """Remember an answer, in the transaction of its effect."""
    await tx.execute_one(
        _STORE,
        {
            "tenant_id": once.tenant_id,
            "key_id": once.key_id,
            "scope": once.scope,
            "fingerprint": once.fingerprint,
            "status": response.status,
            "body": response.body,
            "headers": msgspec.json.encode(response.headers).decode(),
            "stored_at": now_us,
        },
    )


async def prune(tx: Tx, now_us: int, limit: int) -> int:
    """Delete some answers older than 24 hours; how many."""
    return await tx.execute(_PRUNE, {"kept_since": now_us - KEPT_US, "limit": limit})
