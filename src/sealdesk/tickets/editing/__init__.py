"""Editing one's own internal note for some minutes."""
