"""The audit log as a page and as a CSV file."""
