"""The storage: two doors, `Database.read` and `Database.write`."""
