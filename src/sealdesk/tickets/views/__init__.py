"""Saved views of the inbox, and the query that each consists of."""
