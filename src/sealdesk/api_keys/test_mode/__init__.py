"""Test mode: keys whose data and clock are those of a test tenant."""
