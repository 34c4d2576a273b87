"""The OpenAPI document, and the API reference pages rendered from it."""
