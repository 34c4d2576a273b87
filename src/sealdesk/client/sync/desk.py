# Made by `python -m tests.client.sync_source` from client/aio/desk.py: change that file.
"""`Desk`: the client for programs without asyncio."""

import os
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import httpx

from sealdesk.client import operations, responses
from sealdesk.client.attempts import DEFAULT_POLICY, Pause, RetryPolicy, attempts
from sealdesk.client.bodies import MAX_FILE_BYTES, BoundedBody
from sealdesk.client.credentials import read_credentials, read_url
from sealdesk.client.deadlines import close, deadline
from sealdesk.client.errors import InvalidConfiguration, without_frames
from sealdesk.client.operation import ListOperation, Operation
from sealdesk.client.parameters import ReportFilters, ReportTicketFilters
from sealdesk.client.report_results import Report
from sealdesk.client.results import Agent, Team, TestClock, Ticket, WhoAmI
from sealdesk.client.sending import send
from sealdesk.client.session import (
    DEFAULT_TIMEOUT_S,
    CallOptions,
    Session,
    check_function,
    free_headers,
    make_session,
)
from sealdesk.client.signing import MAX_SIGNATURES
from sealdesk.client.sync.connections import Connections
from sealdesk.client.sync.iterators import Pages
from sealdesk.client.sync.resources import (
    Attachments,
    Customers,
    Events,
    Followers,
    Links,
    Participants,
    Replies,
    Tickets,
)
from sealdesk.client.sync.rules import Rules
from sealdesk.client.sync.webhooks import Webhooks

T = TypeVar("T")


class Desk:
    """A tenant of Sealdesk, through the permissions of one API key. May be shared by threads.

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
        http: httpx.Client | None = None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
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
        self._set_up(session, Connections(http), sleep)

    def _set_up(
        self,
        session: Session,
        connections: Connections,
        sleep: Callable[[float], None],
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

        options: those of Desk. Raises InvalidConfiguration.
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
        self._set_up(state["session"], Connections(state["http"]), state["sleep"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session.base_url!r}, {self._session.auth!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; calls raise InvalidConfiguration from then on."""
        self._connections.close()

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

    def whoami(self) -> WhoAmI:
        """Return what the service knows of the key: a good first request."""
        return self.run(operations.whoami())

    def test_clock(self) -> TestClock:
        """Return the time of the test tenant; for keys that begin with tk_test_."""
        return self.run(operations.get_test_clock())

    def set_test_clock(self, *, now: str | None = None, advance_s: int | None = None) -> TestClock:
        """Set the clock of the test tenant ahead, to a time or by a number of seconds."""
        given = {"now": now} if advance_s is None else {"advance_s": advance_s}
        return self.run(operations.set_test_clock(given))

    def agents(self) -> Pages[Agent]:
        """List the users to whom tickets can be assigned."""
        return self.list(operations.list_agents())

    def teams(self) -> Pages[Team]:
        """List the teams to which tickets can be given."""
        return self.list(operations.list_teams())

    def report(self, **filters: Unpack[ReportFilters]) -> Report:
        """What happened to tickets in a period, by default this week, and in the one before."""
        return self.run(operations.get_report(filters))

    def report_tickets(self, **filters: Unpack[ReportTicketFilters]) -> Pages[Ticket]:
        """List the tickets behind a figure of a report, the latest first."""
        return self.list(operations.list_report_tickets(filters))

    def request(
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
        return self._attempt(lambda: session.make(method, target, content, own, session.timeout_s))

    def run(self, operation: Operation[T]) -> T:
        """Send the request of an operation and return its result. Raises SealdeskError."""
        response = self._attempt(lambda: self._session.make_request(operation))
        return responses.read(response, operation)

    def list(self, operation: ListOperation[T]) -> Pages[T]:
        """Return the rows of a list, which are read while they are iterated."""
        return Pages(self.run, operation)

    def _attempt(self, make_request: Callable[[], httpx.Request]) -> httpx.Response:
        steps = attempts(make_request, self._session.terms)
        step = next(steps)
        try:
            while True:
                step = steps.send(self._take(step))
        except StopIteration as end:
            response: httpx.Response = end.value
            return response
        except httpx.RequestError as error:
            raise responses.describe_failure(error, self.base_url) from error

    def _take(self, step: httpx.Request | Pause) -> httpx.Response | httpx.RequestError | None:
        if isinstance(step, Pause):
            self.sleep(step.seconds)
            return None
        try:
            return self._send(step)
        except httpx.RequestError as error:
            return error

    def _send(self, request: httpx.Request) -> httpx.Response:
        response = self._send_once(request)
        for _ in range(MAX_SIGNATURES):
            if response.status_code != 401:
                break
            if not self._session.auth.may_sign_again(request, response.content):
                break
            response = self._send_once(request)
        return response

    def _send_once(self, request: httpx.Request) -> httpx.Response:
        max_bytes = request.extensions.get("max_bytes", MAX_FILE_BYTES)
        http = self._connections.client()
        with deadline(request):
            response = send(http, request, self._session.auth)
            try:
                body = BoundedBody(response, max_bytes)
                if response.is_stream_consumed:
                    return response  # of a transport without a network, such as those of tests
                stream: Any = response.stream  # the methods of the response close it at its end
                for chunk in stream:
                    body.add(chunk)
                return body.complete()
            finally:
                close(response)
