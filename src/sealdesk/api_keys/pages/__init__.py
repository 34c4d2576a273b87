"""Settings → API keys."""
