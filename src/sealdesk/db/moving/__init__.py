"""Copying an installation between SQLite and PostgreSQL, row by row, and proving the copy."""
