"""Backups: consistent copies of a database in one checked file, and restoring them."""
