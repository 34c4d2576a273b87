"""The request log: which requests API keys have sent in the last 7 days, without their bodies."""
