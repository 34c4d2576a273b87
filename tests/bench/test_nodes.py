"""The nodes of the measurement have as many shards each, after the fewest moves."""

from collections import Counter

from bench.nodes.places import plan_moves


def test_each_node_has_as_many_shards_after_the_moves() -> None:
    placed = {1: "a", 2: "b", 3: "c", 4: "a", 5: "b", 6: "c"}

    assert Counter((placed | dict(plan_moves(placed, ["a", "b"]))).values()) == {"a": 3, "b": 3}


def test_only_shards_in_a_wrong_place_are_moved() -> None:
    placed = {1: "a", 2: "b", 3: "a", 4: "b"}

    assert plan_moves(placed, ["a", "b"]) == []
    assert plan_moves(placed, ["a"]) == [(2, "a"), (4, "a")]
