"""Ratings by customers."""
