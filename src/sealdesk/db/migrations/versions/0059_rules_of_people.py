"""The worker's role reads users, members of teams and custom fields, for rules.

Each migration grants the rights that the tables name, so there is nothing to do but to run.
"""

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None
oldest_reader = "0058"


def upgrade() -> None:
    """Nothing."""
