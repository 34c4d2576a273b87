"""Mailboxes: the e-mail addresses of a tenant, and the servers that receive and send for them."""
