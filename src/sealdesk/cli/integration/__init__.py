"""Commands for integrators: they need an API key, and nothing of the service's own packages.

Every command imports this module for its --help, so it does not import the client.
"""

CREDENTIALS = """\b
The API key is read from SEALDESK_API_KEY and SEALDESK_API_SECRET, and the URL of
the service from SEALDESK_API_URL (default: http://127.0.0.1:8000)."""
