"""Sends requests to servers: the requests, the connections, and the rounds."""
