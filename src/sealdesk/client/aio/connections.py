"""The connections of `AsyncDesk`: each process has its own."""

import os

import httpx

from sealdesk.client.errors import InvalidConfiguration


class AsyncConnections:
    """The client of httpx of this process.

    A forked process that used its parent's would read the responses to its parent's requests.
    given: by the user, who also closes it.
    """

    def __init__(self, given: httpx.AsyncClient | None) -> None:
        self.given = given
        self._process = os.getpid()
        self._own: dict[int, httpx.AsyncClient] = {}

    def client(self) -> httpx.AsyncClient:
        """The client of httpx. Raises InvalidConfiguration."""
        process = os.getpid()
        if self.given is None:
            return self._own.get(process) or self._own.setdefault(process, httpx.AsyncClient())
        if process != self._process:
            raise InvalidConfiguration(
                "the client of httpx that was given as http belongs to the process that this one"
                " was forked from: make both after the fork"
            )
        return self.given

    async def close(self) -> None:
        """Close the connections of this process that were not given."""
        own = self._own.pop(os.getpid(), None)
        if own is not None:
            await own.aclose()
