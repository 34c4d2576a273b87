"""What resources of the API share."""
