"""`AsyncDesk`: the client for programs with asyncio."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import httpx

from sealdesk.client import operations, responses
from sealdesk.client.aio.connections import AsyncConnections
from sealdesk.client.aio.iterators import AsyncPages
from sealdesk.client.aio.resources import (
    Attachments,
    Customers,
    Events,
    Followers,
    Links,
    Participants,
    Replies,
    Tickets,
)
from sealdesk.client.aio.rules import Rules
from sealdesk.client.aio.webhooks import Webhooks
from sealdesk.client.attempts import DEFAULT_POLICY, Pause, RetryPolicy, attempts
from sealdesk.client.bodies import MAX_FILE_BYTES, BoundedBody
from sealdesk.client.credentials import read_credentials, read_url
from sealdesk.client.deadlines import async_close, async_deadline
from sealdesk.client.errors import InvalidConfiguration, without_frames
from sealdesk.client.operation import ListOperation, Operation
from sealdesk.client.parameters import ReportFilters, ReportTicketFilters
from sealdesk.client.report_results import Report
from sealdesk.client.results import Agent, Team, TestClock, Ticket, WhoAmI
from sealdesk.client.sending import async_send
from sealdesk.client.session import (
    DEFAULT_TIMEOUT_S,
    CallOptions,
    Session,
    check_function,
    free_headers,
    make_session,
)
from sealdesk.client.signing import MAX_SIGNATURES

T = TypeVar("T")


class AsyncDesk:
    """A tenant of Sealdesk, through the permissions of one API key. May be shared by event loops.

    base_url: of the service, such as https://desk.example.com. http: a client of httpx with its own
    proxies, certificates or limits of connections; it is not closed with the desk. A forked process
    opens connections of its own. A copy, also a pickled one, is a desk of its own; the pickle
    holds the secret.
    """

    @without_frames
    def __init__(
        self,
        api_key: str,
        api_secret: str,
        base_url: str,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        retry: RetryPolicy = DEFAULT_POLICY,
        shows_signed_message: bool = True,
        http: httpx.AsyncClient | None = None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """shows_signed_message: whether a request whose signature is refused is sent once more
        with what was signed, so that the refusal shows the first difference. Raises
        InvalidConfiguration.
        """
        session = make_session(
            api_key,
            api_secret,
            base_url,
            timeout_s=timeout_s,
            policy=retry,
            shows_signed_message=shows_signed_message,
            now=now,
        )
        check_function(sleep, "sleep")
        self._set_up(session, AsyncConnections(http), sleep)

    def _set_up(
        self,
        session: Session,
        connections: AsyncConnections,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._session = session
        self._connections = connections
        self.sleep = sleep
        self.tickets = Tickets(self)
        self.replies = Replies(self)
        self.customers = Customers(self)
        self.followers = Followers(self)
        self.links = Links(self)
        self.participants = Participants(self)
        self.attachments = Attachments(self)
        self.webhooks = Webhooks(self)
        self.rules = Rules(self)
        self.events = Events(self)

    @classmethod
    @without_frames
    def from_environment(cls, environment: Mapping[str, str] = os.environ, **options: Any) -> Self:
        """Read SEALDESK_API_KEY, SEALDESK_API_SECRET and SEALDESK_API_URL.

        options: those of AsyncDesk. Raises InvalidConfiguration.
        """
        api_key, secret = read_credentials(environment)
        return cls(api_key, secret, read_url(environment), **options)

    def with_options(self, **options: Unpack[CallOptions]) -> Self:
        """Return this desk with other options, for one call or many.

        timeout_s: of connecting, and of each read and write. deadline_s: of a whole call with its
        retries. retry: the policy. on_retry: is told of each retry. Connections, signatures and the
        rate limit stay shared: close only one of the two.
        """
        unknown = options.keys() - CallOptions.__annotations__
        if unknown:
            raise InvalidConfiguration(f"there is no option {min(unknown)!r}")
        other = type(self).__new__(type(self))
        other._set_up(self._session.with_options(options), self._connections, self.sleep)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {"session": self._session, "sleep": self.sleep, "http": self._connections.given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set_up(state["session"], AsyncConnections(state["http"]), state["sleep"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session.base_url!r}, {self._session.auth!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; calls raise InvalidConfiguration from then on."""
        await self._connections.close()

    @property
    def base_url(self) -> str:
        """The URL of the service, without a trailing slash."""
        return self._session.base_url

    @without_frames
    def use_credentials(self, api_key: str, api_secret: str) -> None:
        """Sign with these from now on, as after a rotation; so do the desks of `with_options`.

        Raises InvalidConfiguration.
        """
        self._session.auth.signer.use_credentials(api_key, api_secret)

    async def whoami(self) -> WhoAmI:
        """Return what the service knows of the key: a good first request."""
        return await self.run(operations.whoami())

    async def test_clock(self) -> TestClock:
        """Return the time of the test tenant; for keys that begin with tk_test_."""
        return await self.run(operations.get_test_clock())

    async def set_test_clock(
        self, *, now: str | None = None, advance_s: int | None = None
    ) -> TestClock:
        """Set the clock of the test tenant ahead, to a time or by a number of seconds."""
        given = {"now": now} if advance_s is None else {"advance_s": advance_s}
        return await self.run(operations.set_test_clock(given))

    def agents(self) -> AsyncPages[Agent]:
        """List the users to whom tickets can be assigned."""
        return self.list(operations.list_agents())

    def teams(self) -> AsyncPages[Team]:
        """List the teams to which tickets can be given."""
        return self.list(operations.list_teams())

    async def report(self, **filters: Unpack[ReportFilters]) -> Report:
        """What happened to tickets in a period, by default this week, and in the one before."""
        return await self.run(operations.get_report(filters))

    def report_tickets(self, **filters: Unpack[ReportTicketFilters]) -> AsyncPages[Ticket]:
        """List the tickets behind a figure of a report, the latest first."""
        return self.list(operations.list_report_tickets(filters))

    async def request(
        self,
        method: str,
        target: str,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send a signed request to any path, and return the response, whatever its status.

        target: path and query, percent-encoded; sent byte for byte. A POST gets an Idempotency-Key.
        A response of more than 64 MiB is refused.
        """
        session = self._session
        own = free_headers(method, content, headers)
        return await self._attempt(
            lambda: session.make(method, target, content, own, session.timeout_s)
        )

    async def run(self, operation: Operation[T]) -> T:
        """Send the request of an operation and return its result. Raises SealdeskError."""
        response = await self._attempt(lambda: self._session.make_request(operation))
        return responses.read(response, operation)

    def list(self, operation: ListOperation[T]) -> AsyncPages[T]:
        """Return the rows of a list, which are read while they are iterated."""
        return AsyncPages(self.run, operation)

    async def _attempt(self, make_request: Callable[[], httpx.Request]) -> httpx.Response:
        steps = attempts(make_request, self._session.terms)
        step = next(steps)
        try:
            while True:
                step = steps.send(await self._take(step))
        except StopIteration as end:
            response: httpx.Response = end.value
            return response
        except httpx.RequestError as error:
            raise responses.describe_failure(error, self.base_url) from error

    async def _take(
        self, step: httpx.Request | Pause
    ) -> httpx.Response | httpx.RequestError | None:
        if isinstance(step, Pause):
            await self.sleep(step.seconds)
            return None
        try:
            return await self._send(step)
        except httpx.RequestError as error:
            return error

    async def _send(self, request: httpx.Request) -> httpx.Response:
        response = await self._send_once(request)
        for _ in range(MAX_SIGNATURES):
            if response.status_code != 401:
                break
            if not self._session.auth.may_sign_again(request, response.content):
                break
            response = await self._send_once(request)
        return response

    async def _send_once(self, request: httpx.Request) -> httpx.Response:
        max_bytes = request.extensions.get("max_bytes", MAX_FILE_BYTES)
        http = self._connections.client()
        async with async_deadline(request):
            response = await async_send(http, request, self._session.auth)
            try:
                body = BoundedBody(response, max_bytes)
                if response.is_stream_consumed:
                    return response  # of a transport without a network, such as those of tests
                stream: Any = response.stream  # the methods of the response close it at its end
                async for chunk in stream:
                    body.add(chunk)
                return body.complete()
            finally:
                await async_close(response)
