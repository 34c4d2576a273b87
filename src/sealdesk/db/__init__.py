"""The database: transactions of PostgreSQL and SQLite, the schema and its migrations."""
