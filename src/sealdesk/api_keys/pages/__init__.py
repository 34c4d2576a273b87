"""Settings → API Keys."""
