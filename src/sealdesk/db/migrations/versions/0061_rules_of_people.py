"""The worker's role reads users, members of teams and custom fields, for rules.

Each migration grants the rights that the tables name, so there is nothing to do but to run.
"""

revision = "0061"
down_revision = "0060"
oldest_reader = "0060"


def upgrade() -> None:
    """Nothing."""
