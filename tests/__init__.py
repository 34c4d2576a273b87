"""Tests mirror the rooms; `support` starts the real service for them."""
