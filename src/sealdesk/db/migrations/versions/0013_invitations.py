"""An invitation does not take an e-mail address: the directory has only users with a password."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_COPY_IDENTITY = """
UPDATE users SET email_identity = d.email_identity FROM user_directory d
WHERE d.tenant_id = users.tenant_id AND d.user_id = users.id
"""
_FREE_INVITED = """
DELETE FROM user_directory WHERE user_id IN (SELECT id FROM users WHERE password_hash IS NULL)
"""
_TAKE_INVITED = """
INSERT INTO user_directory (email_identity, tenant_id, user_id)
SELECT email_identity, tenant_id, id FROM users
WHERE password_hash IS NULL AND email_identity IS NOT NULL ORDER BY id
ON CONFLICT (email_identity) DO NOTHING
"""


def upgrade() -> None:
    op.add_column("users", sa.Column("email_identity", _TEXT))
    op.execute(_COPY_IDENTITY)
    op.create_index("users_email", "users", ["tenant_id", "email_identity"], unique=True)
    op.execute(_FREE_INVITED)


def downgrade() -> None:
    """Of several invitations of one address, the oldest stays."""
    op.execute(_TAKE_INVITED)
    op.drop_index("users_email", "users")
    op.drop_column("users", "email_identity")
