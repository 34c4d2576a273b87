"""The guard of signed requests."""
