"""Merging two tickets about the same matter, undoing it, and splitting a ticket in two."""
