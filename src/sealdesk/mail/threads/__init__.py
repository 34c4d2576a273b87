"""Which ticket a message belongs to: participants, their reply addresses, and Message-IDs."""
