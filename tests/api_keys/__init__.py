"""Tests of the room of API keys."""
