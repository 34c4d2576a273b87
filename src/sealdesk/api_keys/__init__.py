"""API keys: what they are, what they may, and proving a signed request."""
