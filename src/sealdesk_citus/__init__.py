"""Distribution of the tables over the nodes of Citus, and the nodes themselves."""
