"""Tenants on shards, shards on nodes, and the requests that they can serve."""

import hashlib
import heapq
from collections.abc import Sequence
from typing import NamedTuple

# Hashes have 32 bits, as those of Citus; a shard has a range of them.
_HASHES = 1 << 32
# Moves end when no node is 10 % above the mean, as with Citus' rebalance_table_shards.
_THRESHOLD = 1.1
_WORKER_CONNECTIONS = 10


class Moves(NamedTuple):
    """What a rebalance moves. nodes: the node of each shard afterwards. tickets: those moved."""

    nodes: list[int]
    shard_count: int
    tickets: float


class Connections(NamedTuple):
    """Connections that one node accepts: from its own processes, and at most from other nodes."""

    from_processes: int
    from_nodes: int


def zipf_sizes(tenants: int, mean_tickets: float, exponent: float) -> list[float]:
    """The tickets of each tenant, largest first."""
    weights = [rank**-exponent for rank in range(1, tenants + 1)]
    scale = mean_tickets * tenants / sum(weights)
    return [weight * scale for weight in weights]


def fill_shards(sizes: Sequence[float], shards: int, seed: int) -> list[float]:
    """The tickets of each shard. BLAKE2 replaces the hash of Citus: the ranges are the same."""
    filled = [0.0] * shards
    for tenant, size in enumerate(sizes):
        digest = hashlib.blake2b(f"{seed}:{tenant}".encode(), digest_size=4).digest()
        filled[int.from_bytes(digest) * shards // _HASHES] += size
    return filled


def isolate_largest(sizes: Sequence[float], shards: int, seed: int, count: int) -> list[float]:
    """The tickets of each shard if the `count` largest tenants have shards of their own."""
    ordered = sorted(sizes, reverse=True)
    rest = [0.0] * min(count, len(ordered)) + ordered[count:]
    return fill_shards(rest, shards, seed) + ordered[:count]


def place(shards: Sequence[float], nodes: int) -> list[int]:
    """The node of each shard: the largest first, each on the node with the least."""
    placed = [0] * len(shards)
    heap = [(0.0, node) for node in range(nodes)]
    for shard in sorted(range(len(shards)), key=lambda each: -shards[each]):
        filled, node = heapq.heappop(heap)
        placed[shard] = node
        heapq.heappush(heap, (filled + shards[shard], node))
    return placed


def fill_nodes(shards: Sequence[float], placed: Sequence[int], nodes: int) -> list[float]:
    """The tickets of each node."""
    filled = [0.0] * nodes
    for size, node in zip(shards, placed, strict=True):
        filled[node] += size
    return filled


def imbalance(parts: Sequence[float]) -> float:
    """The largest part ÷ the mean: 1 is even."""
    total = sum(parts)
    return max(parts) * len(parts) / total if total else 1.0


def rebalance(shards: Sequence[float], placed: Sequence[int], nodes: int) -> Moves:
    """Move shards from the fullest node to the emptiest while that makes the fullest smaller."""
    after, count, moved = list(placed), 0, 0.0
    filled = fill_nodes(shards, after, nodes)
    while imbalance(filled) > _THRESHOLD:
        fullest, emptiest = filled.index(max(filled)), filled.index(min(filled))
        gap = filled[fullest] - filled[emptiest]
        movable = [
            shard for shard, node in enumerate(after) if node == fullest and 0 < shards[shard] < gap
        ]
        if not movable:
            break
        shard = min(movable, key=lambda each: abs(shards[each] - gap / 2))
        after[shard] = emptiest
        filled[fullest] -= shards[shard]
        filled[emptiest] += shards[shard]
        count, moved = count + 1, moved + shards[shard]
    return Moves(after, count, moved)


def request_cpu_us(read_us: float, write_us: float, read_share: float, factor: float) -> float:
    """CPU µs of the database for a mean request. factor: the cost ÷ that of one PostgreSQL."""
    return factor * (read_us * read_share + write_us * (1 - read_share))


def requests_per_s(filled: Sequence[float], cores: int, cpu_us: float) -> float:
    """What all nodes serve until the fullest is busy. A tenant's load is as its tickets."""
    return len(filled) * cores * 1e6 / cpu_us / imbalance(filled)


def connections(nodes: int, processes: int, pool: int) -> Connections:
    """The most connections of a node, with `processes` on each node, each with `pool`.

    Each connection of a process may open one to every other node.
    """
    own = processes * pool + _WORKER_CONNECTIONS
    return Connections(own, own * (nodes - 1))
