"""The background loop and its steps."""
