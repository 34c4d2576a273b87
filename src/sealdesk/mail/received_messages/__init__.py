"""Received messages as people see them: those that wait, their preview, and their release."""
