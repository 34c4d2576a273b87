"""Creating and changing several tickets in one request."""
