"""The signature debugger: compares a pasted request with what was signed."""
