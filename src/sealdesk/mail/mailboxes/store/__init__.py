"""The SQL of mailboxes, and of the directory of their addresses."""
