"""The SQL of webhook endpoints and their deliveries."""
