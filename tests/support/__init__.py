"""What tests stand on: the real service on a real socket, and clients that really sign."""
