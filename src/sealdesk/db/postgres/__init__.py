"""The PostgreSQL implementation of `Database`, for any number of processes and hosts."""
