"""The business hours of a desk, and when replies are due by them."""
