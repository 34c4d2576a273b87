"""Builds the documentation site of `/docs` from `docs/` and the OpenAPI document."""
