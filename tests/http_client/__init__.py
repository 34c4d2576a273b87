"""Requests to addresses that tenants name."""
