"""The Alembic environment: runs migrations on one connection, which holds the write lock."""

from alembic import context

from sealdesk.db.schema.metadata import METADATA

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
