"""Pages for logging in, for the own account, and Settings → People."""
