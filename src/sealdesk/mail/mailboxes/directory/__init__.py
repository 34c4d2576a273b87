"""Which tenant's mailbox an address is, in the whole installation."""
