"""The worker's part of reports: counts what events tell of, and rebuilds the sums."""
