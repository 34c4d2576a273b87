"""One test for each sentence and row of the interface, named by its section."""
