"""Moves one tenant between two installations on PostgreSQL while both serve."""
