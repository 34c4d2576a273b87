"""Automation rules: their API, their pages, and what the worker does with them."""
