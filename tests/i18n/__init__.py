"""The catalogue of texts: taken out of the source, and merged with its translations."""
