"""Counts the connections of the receiver, by address and in all."""

from collections import Counter

MAX_CONNECTIONS = 200
MAX_PER_ADDRESS = 50  # a mail server in front has one address for all its messages


class Connections:
    """The open connections of a receiver."""

    def __init__(self) -> None:
        self._by_address: Counter[str] = Counter()

    def try_add(self, address: str) -> bool:
        """Count a new connection, if there is room for it."""
        is_full = self._by_address.total() >= MAX_CONNECTIONS
        if is_full or self._by_address[address] >= MAX_PER_ADDRESS:
            return False
        self._by_address[address] += 1
        return True

    def remove(self, address: str) -> None:
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]
