"""The simulation of many nodes computes, and asks no database."""

import pytest
from bench.simulation import rules

_SEED = 7


def test_sizes_have_the_mean_and_fall_by_zipfs_law() -> None:
    sizes = rules.zipf_sizes(100, 10, 1)

    assert sum(sizes) == pytest.approx(1_000)
    assert sizes[0] == pytest.approx(10 * sizes[9])


def test_shards_keep_all_tickets_and_are_the_same_each_time() -> None:
    sizes = rules.zipf_sizes(1_000, 10, 1)

    assert sum(rules.fill_shards(sizes, 32, _SEED)) == pytest.approx(sum(sizes))
    assert rules.fill_shards(sizes, 32, _SEED) == rules.fill_shards(sizes, 32, _SEED)


def test_one_tenant_fills_one_node_only() -> None:
    shards = rules.fill_shards([5.0], 32, _SEED)

    assert rules.imbalance(rules.fill_nodes(shards, rules.place(shards, 4), 4)) == 4


def test_more_nodes_than_shards_leave_nodes_empty() -> None:
    filled = rules.fill_nodes([1.0, 1.0], rules.place([1.0, 1.0], 5), 5)

    assert sorted(filled) == [0, 0, 0, 1, 1]


def test_isolation_gives_the_largest_tenant_a_shard_of_its_own() -> None:
    shards = rules.isolate_largest([1.0, 90.0, 1.0], 2, _SEED, 1)

    assert shards[-1] == 90
    assert sum(shards) == 92


def test_a_tenant_larger_than_all_others_bounds_the_requests_of_any_number_of_nodes() -> None:
    shards = rules.isolate_largest([90.0, *[1.0] * 90], 32, _SEED, 1)

    rates = [
        rules.requests_per_s(rules.fill_nodes(shards, rules.place(shards, nodes), nodes), 1, 1e6)
        for nodes in (2, 8, 32)
    ]

    assert rates == pytest.approx([2, 2, 2])


def test_equal_shards_are_rebalanced_by_the_fewest_moves() -> None:
    moves = rules.rebalance([1.0] * 32, rules.place([1.0] * 32, 2), 4)

    assert (moves.shard_count, moves.tickets) == (16, 16)
    assert rules.fill_nodes([1.0] * 32, moves.nodes, 4) == [8] * 4


def test_a_rebalance_ends_where_no_move_helps() -> None:
    assert rules.rebalance([9.0, 0.0], [0, 0], 3).shard_count == 0


def test_the_factor_multiplies_the_cost_of_a_request() -> None:
    assert rules.request_cpu_us(100, 200, 0.5, 4) == 600


def test_one_node_has_no_connections_from_others() -> None:
    assert rules.connections(1, 4, 10) == (50, 0)
    assert rules.connections(3, 4, 10) == (50, 100)
