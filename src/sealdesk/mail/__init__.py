"""E-mail: mailboxes, messages that come in, and messages that go out."""
