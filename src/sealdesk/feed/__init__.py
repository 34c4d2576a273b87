"""The feed: a tenant's events in order, for API clients."""
