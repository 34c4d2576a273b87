"""Search: the tickets in which somebody's words stand."""
