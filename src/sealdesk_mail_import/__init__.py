"""Importing the messages of a mailbox from another mail system."""
