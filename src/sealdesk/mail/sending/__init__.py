"""Messages that go out: the public replies of tickets, to each participant."""
