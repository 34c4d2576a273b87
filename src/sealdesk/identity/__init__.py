"""Tenants, their users, and proving who is logged in."""
