"""Tags: the tags of a desk, suggestions, and other names for a tag on all of its tickets."""
