"""What remains of a customer in the tables of e-mail."""
