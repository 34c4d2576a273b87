"""Tests of API keys."""
