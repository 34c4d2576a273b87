"""The reason of a received message has a code, so that no code depends on its text."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_FILL = """
UPDATE received_messages SET reason_code = CASE reason
    WHEN 'could not be processed' THEN 'not_processed'
    WHEN 'could not be read in time' THEN 'not_processed'
    WHEN 'no participant' THEN 'stranger'
    WHEN 'no participant, added later' THEN 'stranger_added'
    WHEN 'no participant, opened as a ticket' THEN 'stranger_moved'
    WHEN 'imported, written by the desk' THEN 'by_desk' END
WHERE reason IN ('could not be processed', 'could not be read in time', 'no participant',
    'no participant, added later', 'no participant, opened as a ticket',
    'imported, written by the desk')
"""


def upgrade() -> None:
    op.add_column("received_messages", sa.Column("reason_code", _TEXT, nullable=True))
    op.execute(_FILL)
