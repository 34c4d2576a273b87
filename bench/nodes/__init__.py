"""Measures a distributed database whose shards are on one, two and three nodes."""
