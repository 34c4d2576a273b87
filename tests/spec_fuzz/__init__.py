"""The running service against its own OpenAPI document, with requests that nobody would write."""
