"""Who uses pages of this process: opens or sends one, moves the pointer, or types."""

_MAX_USERS = 10_000  # 0.3 KiB each


class SeenUsers:
    """When users were last seen. Those who were seen longest ago are forgotten first."""

    def __init__(self) -> None:
        self._seen_at: dict[tuple[str, str], int] = {}

    def note(self, tenant_id: str, user_id: str, now_us: int) -> None:
        """A user has done something."""
        self._seen_at.pop((tenant_id, user_id), None)
        self._seen_at[tenant_id, user_id] = now_us
        if len(self._seen_at) > _MAX_USERS:
            del self._seen_at[next(iter(self._seen_at))]

    def forget_before(self, before_us: int) -> None:
        """Forget those who were not seen since."""
        while self._seen_at:
            oldest = next(iter(self._seen_at))
            if self._seen_at[oldest] >= before_us:
                return
            del self._seen_at[oldest]

    def by_tenant(self) -> dict[str, dict[str, int]]:
        """Of each tenant its users, and when they were seen."""
        found: dict[str, dict[str, int]] = {}
        for (tenant_id, user_id), at_us in self._seen_at.items():
            found.setdefault(tenant_id, {})[user_id] = at_us
        return found
