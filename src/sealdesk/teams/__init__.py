"""Teams: their members, and whose turn it is to be given a ticket."""
