"""Files that are attached to tickets and replies."""
