"""Clients that public generators make from the OpenAPI document: they compile, and they work."""
