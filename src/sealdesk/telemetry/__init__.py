"""What a process reports of itself: logs, metrics and counters of key use."""
