"""Macros: canned replies with variables, and what they set on a ticket."""
