"""Places tenants on shards and shards on nodes, and computes what the nodes can serve."""
