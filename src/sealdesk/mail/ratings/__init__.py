"""Ratings: customers say on a page, behind a link, how satisfied they are with a ticket."""
