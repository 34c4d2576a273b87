"""Codes that verify whose address it is."""
