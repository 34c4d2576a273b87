"""The SQL of the search indexes."""
