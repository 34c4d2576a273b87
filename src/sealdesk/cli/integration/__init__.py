"""Commands for integrators: they need an API key, and nothing of the service's own packages."""
