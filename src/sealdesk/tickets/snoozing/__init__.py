"""Snoozed tickets: they leave the lists until a time, or until their customer replies."""
