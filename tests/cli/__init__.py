"""Tests of the `sealdesk` command, run as a program of its own."""
