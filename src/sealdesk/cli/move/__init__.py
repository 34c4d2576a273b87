"""`sealdesk move`: moves an installation from SQLite to PostgreSQL, or back."""
