"""The worker's part of SLA policies: warnings, breaches, and due times by changed policies."""
