"""The worker's part of weekly reports: queues those that are due."""
