"""The SQL of tickets."""
