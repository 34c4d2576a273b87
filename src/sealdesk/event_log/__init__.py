"""The event log: the outbox, the sequencer, consumers, and long polling."""
