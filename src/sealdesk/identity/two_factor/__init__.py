"""Two-factor authentication: codes of an authenticator app (RFC 6238), and recovery codes."""
