"""Reads the IMAP folders of mailboxes: each message becomes what the receiver makes of it."""
