"""The embedded database: SQLite with group commit."""
