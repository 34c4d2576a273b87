"""Tenants, their users, and authentication."""
