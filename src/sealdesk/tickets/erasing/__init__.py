"""Erasing a customer: the person and all texts of their tickets go, counts and times stay."""
