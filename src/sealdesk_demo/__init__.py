"""`sealdesk demo`: an example tenant, and the command that creates it."""
