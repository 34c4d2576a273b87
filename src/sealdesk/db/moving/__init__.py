"""Copies an installation between SQLite and PostgreSQL and verifies the copy by checksums."""
