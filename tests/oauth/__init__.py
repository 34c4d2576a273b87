"""Tests of OAuth log-ins at mail providers."""
