"""Automation rules run by the worker: each ticket in a transaction of its own."""
