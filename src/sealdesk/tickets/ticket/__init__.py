"""What a ticket is: its fields, rules, document and rows."""
