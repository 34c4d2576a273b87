"""Functions on foreign input, run in child processes that have limits and no secrets."""
