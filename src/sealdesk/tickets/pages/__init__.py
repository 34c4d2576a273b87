"""The inbox and the ticket page."""
