"""What became of messages: with their replies, as events and as notes."""
