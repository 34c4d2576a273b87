"""The client for programs with asyncio, of which `sync` is made."""
