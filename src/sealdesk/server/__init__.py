"""The serving process: sockets, the HTTP protocol, and the ASGI application."""
