"""The message catalogues of the pages: extraction, update and checks."""
