"""API keys: their management, their permissions, and the guard of signed requests."""
