"""`sealdesk nodes`: the nodes of a distributed database, and the shards on them."""
