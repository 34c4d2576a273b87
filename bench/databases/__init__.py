"""Builds the databases that are measured, and runs PostgreSQL."""
