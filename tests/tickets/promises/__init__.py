"""SLA policies."""
