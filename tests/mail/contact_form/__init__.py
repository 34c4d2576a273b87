"""Tests of the form for customers."""
