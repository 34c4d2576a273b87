"""OAuth 2.0 log-ins at mail providers (RFC 6749, RFC 7636): whose endpoints, and the tokens."""
