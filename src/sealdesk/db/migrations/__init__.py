"""Migrations from one schema version to the next."""
