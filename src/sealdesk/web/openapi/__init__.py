"""The OpenAPI document, and the reference pages rendered from it."""
