# Made by `python -m tests.client.sync_source` from client/aio/connections.py: change that file.
"""The connections of `Desk`: each process has its own."""

import os

import httpx

from sealdesk.client.errors import InvalidConfiguration


class Connections:
    """The client of httpx of this process.

    A forked process that used its parent's would read the responses to its parent's requests.
    given: by the user, who also closes it.
    """

    def __init__(self, given: httpx.Client | None) -> None:
        self.given = given
        self._process = os.getpid()
        self._own: dict[int, httpx.Client] = {}

    def client(self) -> httpx.Client:
        """The client of httpx. Raises InvalidConfiguration."""
        process = os.getpid()
        if self.given is None:
            return self._own.get(process) or self._own.setdefault(process, httpx.Client())
        if process != self._process:
            raise InvalidConfiguration(
                "the client of httpx that was given as http belongs to the process that this one"
                " was forked from: make both after the fork"
            )
        return self.given

    def close(self) -> None:
        """Close the connections of this process that were not given."""
        own = self._own.pop(os.getpid(), None)
        if own is not None:
            own.close()
