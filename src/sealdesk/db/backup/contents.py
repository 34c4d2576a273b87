"""Describes the database of a backup for its manifest."""

import hashlib
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from sealdesk.crypto.sealing import fingerprint_of
from sealdesk.db.backup.archive import Dump
from sealdesk.db.migrations.schema_version import READ_VERSION

_READ_BYTES = 1024 * 1024
_EPOCH = "SELECT coalesce(max(started_at), 0) FROM epochs LIMIT 1"
_NEWEST_SEALED = """
SELECT tenant_id, id, secret_version, sealed_secret FROM api_keys
WHERE sealed_secret IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 1
"""


class Reader(Protocol):
    """Reads a database at one moment."""

    async def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """The rows of a query. values: of $1, $2 and so on."""

    async def tables(self) -> list[str]: ...

    async def sealed_columns(self) -> list[tuple[str, str]]:
        """(table, column) of all sealed secrets."""


class SealedSecret(NamedTuple):
    """The sealed secret of an API key."""

    tenant_id: str
    key_id: str
    version: int
    sealed: bytes


class Contents(NamedTuple):
    """What a database holds. master_keys: fingerprints of the keys that sealed its secrets."""

    schema: str
    epoch: int
    rows: dict[str, int]
    master_keys: tuple[str, ...]
    sample: SealedSecret | None


async def describe(reader: Reader) -> Contents:
    """Count the rows, and find the master keys that are needed."""
    ((schema,),) = await reader.rows(READ_VERSION)
    names = await reader.tables()
    rows = {name: await _count(reader, name) for name in names}
    epoch = await _first(reader, _EPOCH) if "epochs" in names else 0
    fingerprints = set[str]()
    for table, column in await reader.sealed_columns():
        found = await reader.rows(
            f"SELECT DISTINCT substr({column}, 1, 4) FROM {table} WHERE {column} IS NOT NULL"
        )
        fingerprints |= {fingerprint_of(cast(bytes, start)) for (start,) in found}
    newest = await reader.rows(_NEWEST_SEALED)
    sample = SealedSecret(*cast(tuple[str, str, int, bytes], newest[0])) if newest else None
    return Contents(str(schema), epoch, rows, tuple(sorted(fingerprints)), sample)


async def _count(reader: Reader, table: str) -> int:
    return await _first(reader, f"SELECT count(*) FROM {table}")


async def _first(reader: Reader, sql: str) -> int:
    ((value,),) = await reader.rows(sql)
    return cast(int, value)


def describe_dump(path: Path, database: str, contents: Contents) -> Dump:
    """The dump with its size and checksum."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            digest.update(block)
    return Dump(
        database=database,
        schema=contents.schema,
        epoch=contents.epoch,
        rows=contents.rows,
        bytes=path.stat().st_size,
        sha256=digest.hexdigest(),
    )
