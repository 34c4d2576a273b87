"""Merging two customers who are one person, and undoing it."""
