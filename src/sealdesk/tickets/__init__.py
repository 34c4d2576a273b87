"""Tickets and their replies."""
