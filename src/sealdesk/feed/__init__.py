"""The feed: a tenant's events in order, for who asks."""
