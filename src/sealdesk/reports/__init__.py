"""Reports: how many tickets came, were answered and were resolved, when, by whom, and how fast."""
