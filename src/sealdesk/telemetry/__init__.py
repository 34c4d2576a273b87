"""Logs, metrics, and counters of the use of API keys."""
