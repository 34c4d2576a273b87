"""Notifications: what a user should know of, in a list behind a bell."""
