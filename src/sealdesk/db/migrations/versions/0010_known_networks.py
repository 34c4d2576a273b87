"""The addresses of log-ins become networks: the /64 of an IPv6 address."""

import ipaddress

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_OF_IPV6 = """
SELECT tenant_id, user_id, address, last_at FROM user_addresses WHERE address LIKE '%:%'
"""
_DELETE = """
DELETE FROM user_addresses
WHERE tenant_id = :tenant_id AND user_id = :user_id AND address = :address
"""
_ADD = """
INSERT INTO user_addresses (tenant_id, user_id, address, last_at)
VALUES (:tenant_id, :user_id, :network, :last_at)
ON CONFLICT (tenant_id, user_id, address) DO NOTHING
"""


def upgrade() -> None:
    connection = op.get_bind()
    rows = [row._asdict() for row in connection.execute(sa.text(_OF_IPV6))]
    if rows:
        connection.execute(sa.text(_DELETE), rows)
        connection.execute(
            sa.text(_ADD), [{**row, "network": _network(row["address"])} for row in rows]
        )


def downgrade() -> None:
    """The networks stay: users of IPv6 are taken for strangers until they log in again."""


def _network(address: str) -> str:
    try:
        ip = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(ip.ipv4_mapped or ipaddress.IPv6Network((int(ip), 64), strict=False))
