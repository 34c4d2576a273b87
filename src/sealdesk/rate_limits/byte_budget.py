"""A budget of the bytes that a process holds for all clients at the same time."""

# What a connection may hold uncounted, as it costs about as much anyway. Most requests and
# responses fit into it: they cost no accounting, and are not refused when the budget is spent.
UNCOUNTED_BYTES = 16 * 1024
_SHARES = 8


class ByteBudget:
    """Counts bytes by holder: the address or the tenant for which they are held.

    A holder may have an eighth of the budget, so that others find room. Whoever holds nothing may
    have more, since a single response can be larger.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._by_holder: dict[str, int] = {}
        self.held_bytes = 0
        self.refused_count = 0

    def has_room(self, holder: str, size: int) -> bool:
        """Whether the holder may have so many bytes more; a refusal is counted."""
        held = self._by_holder.get(holder, 0)
        is_over_share = held > 0 and held + size > self._limit_bytes // _SHARES
        is_over_all = self.held_bytes > 0 and self.held_bytes + size > self._limit_bytes
        self.refused_count += is_over_share or is_over_all
        return not (is_over_share or is_over_all)

    def add(self, holder: str, size: int) -> None:
        """Count bytes of the holder, whether there is room or not."""
        self.held_bytes += size
        self._by_holder[holder] = self._by_holder.get(holder, 0) + size

    def release(self, holder: str, size: int) -> None:
        """Count bytes of the holder no longer."""
        self.held_bytes -= size
        rest = self._by_holder[holder] - size
        if rest:
            self._by_holder[holder] = rest
        else:
            del self._by_holder[holder]


class Holding:
    """The bytes of one request in a budget."""

    def __init__(self, budget: ByteBudget, holder: str) -> None:
        self._budget = budget
        self._holder = holder
        self._size = 0

    def try_add(self, size: int) -> bool:
        """Count these bytes too, if there is room."""
        if not self._budget.has_room(self._holder, size):
            return False
        self._budget.add(self._holder, size)
        self._size += size
        return True

    def release_part(self, size: int) -> None:
        """Count these bytes no longer; those that were never counted are ignored."""
        counted = min(size, self._size)
        if counted:
            self._budget.release(self._holder, counted)
            self._size -= counted

    def release(self) -> None:
        """Count the bytes of this request no longer."""
        if self._size:
            self._budget.release(self._holder, self._size)
            self._size = 0
