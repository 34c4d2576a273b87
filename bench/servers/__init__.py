"""Starts the processes that are measured, on a CPU core of their own."""
