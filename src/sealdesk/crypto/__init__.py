"""Signs requests and webhooks, encrypts secrets, and stores the keys in files."""
