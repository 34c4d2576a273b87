"""Mutants: small faults in the sources, each with the tests that must fail with it."""
