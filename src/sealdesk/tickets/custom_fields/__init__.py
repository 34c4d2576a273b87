"""Definitions of custom fields: their administration, and the checks of values."""
