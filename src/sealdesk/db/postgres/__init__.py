"""PostgreSQL behind the doors: equal processes on any number of hosts."""
