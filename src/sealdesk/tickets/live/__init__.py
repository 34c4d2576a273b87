"""Live pages: what happens to tickets, sent to open pages at once."""
