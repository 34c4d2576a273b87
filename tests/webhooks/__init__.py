"""Webhook endpoints and what is delivered to them."""
