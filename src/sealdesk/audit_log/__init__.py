"""The audit log: who changed what, as a page and as CSV."""
