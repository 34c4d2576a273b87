"""Which older versions can use a newer schema (decision 0102)."""

from importlib import import_module

from sealdesk.db.schema_version import KNOWN_VERSIONS, MIGRATIONS

NOTE = "oldest_reader"


def of(schema: str) -> str:
    """The oldest schema whose version can serve on this one; itself unless its migration says."""
    (path,) = MIGRATIONS.glob(f"{schema}_*.py")
    # With Alembic 100 ms to import, which only those who migrate need.
    module = import_module(f"sealdesk.db.migrations.versions.{path.stem}")
    return str(getattr(module, "oldest_reader", schema))


def of_this_version() -> str:
    """The oldest schema whose version can serve on the newest schema."""
    return of(KNOWN_VERSIONS[-1])
