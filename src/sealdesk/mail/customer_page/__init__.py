"""The page of one ticket for its customer, behind the link in the e-mails to them."""
