"""Forms for customers."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "contact_forms",
        *_texts("path_name", "tenant_id", "mailbox_id", "base_url", "field_keys"),
        sa.Column("is_on", sa.Boolean, nullable=False),
        sa.Column("has_ticket_pages", sa.Boolean, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("path_name"),
        sqlite_with_rowid=False,
    )
    op.create_index("contact_forms_tenant", "contact_forms", ["tenant_id"], unique=True)
    op.create_table(
        "form_submissions",
        *_texts("tenant_id", "id", "address", "address_identity", "language", "request"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"]),
    )
    by_address = ["tenant_id", "address_identity", "created_at"]
    op.create_index("form_submissions_address", "form_submissions", by_address)
    by_time = ["created_at", "tenant_id", "id"]
    op.create_index("form_submissions_created_at", "form_submissions", by_time)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, _TEXT, nullable=False) for name in names]


def downgrade() -> None:
    op.drop_table("form_submissions")
    op.drop_table("contact_forms")
