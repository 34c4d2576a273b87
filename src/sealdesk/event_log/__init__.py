"""The event log: what happened in a tenant, and waiting for what comes next."""
