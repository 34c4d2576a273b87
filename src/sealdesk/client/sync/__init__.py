"""The client for programs without asyncio, made from `aio`."""
