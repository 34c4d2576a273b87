"""The SQL of filters by tags and followers, which have rows of their own, and by snoozing."""

# The tables and columns by the name of the filter.
MEMBERSHIPS = {"tag": ("ticket_tags", "tag"), "follower_id": ("ticket_followers", "user_id")}


def condition(name: str, key: str = "", *, is_leading: bool) -> str:
    """A condition on tickets `t`. is_leading: the rows of the value are read first.

    key: of the parameter with the value, if it is not the name.
    """
    table, column = MEMBERSHIPS[name]
    key = key or name
    of_value = f"g.tenant_id = :tenant_id AND g.{column} = :{key}"
    if is_leading:
        return f"t.id IN (SELECT g.ticket_id FROM {table} g WHERE {of_value})"
    return f"EXISTS (SELECT 1 FROM {table} g WHERE {of_value} AND g.ticket_id = t.id)"


def of_snoozed(is_snoozed: bool | None) -> list[str]:
    """The conditions on tickets `t` that are snoozed, or are not; none for all tickets."""
    if is_snoozed is None:
        return []
    # Only a comparison makes SQLite search the index by it.
    return ["t.snoozed_until > ''" if is_snoozed else "t.snoozed_until IS NULL"]
