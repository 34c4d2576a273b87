"""The check of the whole installation: small named checks, and where their results are shown."""
