"""Tests of weekly reports."""
