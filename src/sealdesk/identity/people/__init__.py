"""The users of a tenant, as administrators manage them."""
