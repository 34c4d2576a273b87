"""IMAP: one connection to a server, its responses, and the names of folders."""
