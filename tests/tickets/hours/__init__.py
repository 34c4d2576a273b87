"""Business hours: deadlines by them, their page, and due lines."""
