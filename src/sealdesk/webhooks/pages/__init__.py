"""Settings → Webhooks."""
