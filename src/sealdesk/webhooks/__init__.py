"""Webhooks: endpoints that tenants name, and what is delivered to them."""
