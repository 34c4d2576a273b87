"""Tests of codes that verify an address."""
