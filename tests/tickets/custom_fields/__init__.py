"""Custom fields: their definitions, their values, and their pages."""
