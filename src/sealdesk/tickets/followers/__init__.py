"""Followers: people who are notified of what happens to a ticket."""
