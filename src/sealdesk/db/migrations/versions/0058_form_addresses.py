"""Unconfirmed forms of an address are counted over all tenants."""

from alembic import op

revision = "0058"
down_revision = "0057"


def upgrade() -> None:
    op.drop_index("form_submissions_address", "form_submissions")
    columns = ["address_identity", "created_at", "tenant_id", "id"]
    op.create_index("form_submissions_address", "form_submissions", columns)
