"""Senders and domains whose messages a tenant does not want."""
