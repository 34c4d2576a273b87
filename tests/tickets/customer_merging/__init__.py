"""Merging customers."""
