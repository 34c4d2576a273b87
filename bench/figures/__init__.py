"""Measures the figures, and reports them."""
