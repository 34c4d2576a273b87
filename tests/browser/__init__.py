"""A real browser at the pages: what only it can show."""
