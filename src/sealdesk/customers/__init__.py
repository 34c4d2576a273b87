"""Customers: the people that tickets come from."""
