"""Tables of tenants, users and log-ins."""

from sealdesk.db.schema.definitions import (
    ONE_SHARD,
    REFERENCE,
    Expiry,
    blob,
    by_key,
    flag,
    id_,
    index,
    number,
    of_tenant,
    refers,
    table,
    tenant,
    text_,
    texts,
    time_,
)

# One row for each restore from a backup; see db/epochs.py. restored_to: when the backup was made.
table("epochs", number("started_at", key=True), time_("restored_to"), place=REFERENCE)
table(
    "tenants", id_(key=True), text_("name"), time_("created_at"), place=REFERENCE, worker="SELECT"
)
# The tenant of the test keys of another tenant, its live one; a tenant has at most one.
# clock_offset_us: how far its clock is ahead of the real time.
table(
    "test_tenants",
    tenant(),
    id_("live_id"),
    time_("clock_offset_us"),
    index("test_tenants_live", "live_id", is_unique=True),
    # The worker looks there for work that the real time does not yet make due.
    index("test_tenants_ahead", "tenant_id", where="clock_offset_us > 0"),
    place=REFERENCE,
    runtime="UPDATE",
    worker="SELECT",
)

table(
    "users",
    tenant(),
    id_(key=True),
    *texts("email", "name", "role"),
    text_("password_hash", null=True),
    flag("is_active"),
    # Only tokens of this version are accepted; a changed password or role increments it.
    number("token_version"),
    time_("created_at"),
    # Of the e-mail address: unique in the tenant, also among the invited.
    text_("email_identity", null=True),
    of_tenant(),
    index("users_email", "tenant_id email_identity", is_unique=True),
    runtime="UPDATE",
    # Whom a rule assigns or notifies must be active (decision 0110).
    worker="SELECT",
)
# The addresses with which users log in; who is invited has none here until they accept.
table(
    "user_directory",
    text_("email_identity", key=True),
    id_("tenant_id"),
    id_("user_id"),
    place=by_key("email_identity"),
    runtime="DELETE",
)
table(
    "user_addresses",
    tenant(),
    id_("user_id", key=True),
    # An IPv4 address, or the /64 of an IPv6 address.
    text_("address", key=True),
    time_("last_at"),
    refers("user_id", "users"),
    runtime="UPDATE",
)
# recovery_hashes: a JSON list. last_step: the 30-second step of the last accepted code.
table(
    "second_factors",
    tenant(),
    id_("user_id", key=True),
    blob("sealed_secret"),
    text_("recovery_hashes"),
    number("last_step"),
    time_("created_at"),
    time_("confirmed_at", null=True),
    refers("user_id", "users"),
    runtime="UPDATE DELETE",
)
table(
    "login_failures",
    text_("bucket", key=True),
    id_(key=True),
    time_("failed_at"),
    index("login_failures_failed_at", "failed_at"),
    place=ONE_SHARD,
    runtime="DELETE",
    worker="SELECT DELETE",
)
table(
    "ended_tokens",
    id_(key=True),
    time_("expires_at"),
    index("ended_tokens_expires_at", "expires_at"),
    place=by_key("id"),
    worker="SELECT DELETE",
    expiry=Expiry("expires_at"),
)
table(
    "reset_links",
    blob("token_hash", key=True),
    id_("tenant_id"),
    id_("user_id"),
    time_("expires_at"),
    index("reset_links_expires_at", "expires_at"),
    place=REFERENCE,
    runtime="DELETE",
    worker="SELECT DELETE",
    expiry=Expiry("expires_at"),
)
