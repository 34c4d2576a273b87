"""Links: how a ticket relates to other tickets."""
