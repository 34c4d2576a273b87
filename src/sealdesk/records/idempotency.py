"""Stored responses: a repeated POST gets the response of the first one (spec decision 10)."""

import hashlib
import re
from typing import NamedTuple

import msgspec

from sealdesk.db.column_lists import insert_or_update
from sealdesk.db.engine import Tx
from sealdesk.db.schema.retention import kept_us
from sealdesk.errors import BadRequest, Conflict, ValidationFailed
from sealdesk.errors.general import IDEMPOTENCY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED
from sealdesk.errors.requests import INVALID_IDEMPOTENCY_KEY

RETENTION_US = kept_us("idempotency")
_KEY = re.compile(r"[\x20-\x7e]{1,255}")

_FIND = """
SELECT fingerprint, status, body, headers FROM idempotency
WHERE tenant_id = :tenant_id AND key_id = :key_id AND scope = :scope AND stored_at > :stored_since
LIMIT 1
"""
_STORE = insert_or_update(
    "idempotency", "tenant_id key_id scope", "fingerprint status body headers stored_at"
)


class IdempotentRequest(NamedTuple):
    """A request that is executed at most once.

    scope: method, path and Idempotency-Key. fingerprint: SHA-256 of the body.
    """

    tenant_id: str
    key_id: str
    scope: str
    fingerprint: bytes


class StoredResponse(NamedTuple):
    """The response to the first request."""

    status: int
    body: bytes
    headers: list[tuple[str, str]]


def read_key(
    tenant_id: str, key_id: str, *, key: str, method: str, path: str, body: bytes
) -> IdempotentRequest:
    """The request with this Idempotency-Key. Raises BadRequest for an invalid key."""
    if _KEY.fullmatch(key) is None:
        raise BadRequest(INVALID_IDEMPOTENCY_KEY)
    fingerprint = hashlib.sha256(body).digest()
    return IdempotentRequest(tenant_id, key_id, f"{method} {path} {key}", fingerprint)


async def lock(tx: Tx, request: IdempotentRequest) -> None:
    """Exclude copies of this request until the transaction ends. Raises Conflict while one runs."""
    if not await tx.try_lock(f"once {request.key_id} {request.scope}", request.tenant_id):
        raise Conflict(IDEMPOTENCY_IN_FLIGHT)


async def find(tx: Tx, request: IdempotentRequest, now_us: int) -> StoredResponse | None:
    """The response that is stored for this request.

    Raises ValidationFailed when the key was used for another body.
    """
    row = await tx.fetch_one(
        _FIND,
        {
            "tenant_id": request.tenant_id,
            "key_id": request.key_id,
            "scope": request.scope,
            "stored_since": now_us - RETENTION_US,
        },
    )
    if row is None:
        return None
    if row["fingerprint"] != request.fingerprint:
        raise ValidationFailed(IDEMPOTENCY_KEY_REUSED)
    headers = msgspec.json.decode(row["headers"], type=list[tuple[str, str]])
    return StoredResponse(row["status"], row["body"], headers)


async def store(tx: Tx, request: IdempotentRequest, response: StoredResponse, now_us: int) -> None:
    """Store a response in the transaction of its request."""
    await tx.execute_one(
        _STORE,
        {
            "tenant_id": request.tenant_id,
            "key_id": request.key_id,
            "scope": request.scope,
            "fingerprint": request.fingerprint,
            "status": response.status,
            "body": response.body,
            "headers": msgspec.json.encode(response.headers).decode(),
            "stored_at": now_us,
        },
    )
