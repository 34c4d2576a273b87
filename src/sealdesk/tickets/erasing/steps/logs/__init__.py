"""What remains of a customer in the logs and lists of a desk."""
