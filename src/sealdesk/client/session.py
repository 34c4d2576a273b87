"""What both clients share: settings, and the httpx.Request of an operation."""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypedDict, TypeGuard

import httpx

from sealdesk import __version__
from sealdesk.client.attempts import DEFAULT_POLICY, Limiter, Retry, RetryPolicy, Terms
from sealdesk.client.credentials import check_url
from sealdesk.client.errors import InvalidConfiguration
from sealdesk.client.operation import Operation, new_key
from sealdesk.client.signing import SignatureAuth

DEFAULT_TIMEOUT_S = 30.0
_MAX_TIMEOUT_S = 1e9  # sockets take no more
_USER_AGENT = f"sealdesk-python/{__version__}"


class CallOptions(TypedDict, total=False):
    """How calls are made: see `Desk.with_options`."""

    timeout_s: float
    deadline_s: float | None
    retry: RetryPolicy
    on_retry: Callable[[Retry], None] | None


class Session(NamedTuple):
    """The settings of a client. timeout_s: of connecting, and of each read and write."""

    base_url: str
    auth: SignatureAuth
    terms: Terms
    timeout_s: float

    def with_options(self, options: CallOptions) -> "Session":
        """Return the settings with other options; the signatures and the limit stay shared."""
        _check_options(options)
        terms = self.terms._replace(
            policy=options.get("retry", self.terms.policy),
            deadline_s=options.get("deadline_s", self.terms.deadline_s),
            on_retry=options.get("on_retry", self.terms.on_retry),
        )
        return self._replace(terms=terms, timeout_s=options.get("timeout_s", self.timeout_s))

    def make_request(self, operation: Operation[Any]) -> httpx.Request:
        """Return the request of an operation, not signed yet."""
        request = self.make(
            operation.method,
            operation.target,
            operation.body,
            operation.headers,
            self.timeout_s + operation.extra_timeout_s,
        )
        request.extensions["max_bytes"] = operation.max_bytes
        request.extensions["is_repeatable"] = operation.is_repeatable
        return request

    def make(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str], timeout_s: float
    ) -> httpx.Request:
        """Return a request whose target is sent byte for byte. Raises InvalidConfiguration."""
        try:
            return self._new_request(method, target, body, headers, timeout_s)
        except (UnicodeError, httpx.InvalidURL) as error:
            raise InvalidConfiguration(f"the request cannot be sent: {error}") from error

    def _new_request(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str], timeout_s: float
    ) -> httpx.Request:
        request = httpx.Request(
            method,
            self.base_url + "/",
            content=body,
            headers={"accept": "application/json", "user-agent": _USER_AGENT, **headers},
            extensions={"timeout": httpx.Timeout(timeout_s).as_dict()},
        )
        exact = httpx.URL(self.base_url).raw_path.rstrip(b"/") + target.encode("latin-1")
        request.url = request.url.copy_with(raw_path=exact)
        if request.url.raw_path != exact:  # httpx encodes some characters, such as { and "
            request.extensions["target"] = exact
        return request


def make_session(
    api_key: str,
    api_secret: str,
    base_url: str,
    *,
    timeout_s: float,
    policy: RetryPolicy,
    shows_signed_message: bool,
    now: Callable[[], float] = time.time,
) -> Session:
    """Check the settings. Raises InvalidConfiguration."""
    _check_options({"timeout_s": timeout_s, "retry": policy})
    check_function(now, "now")
    shows: object = shows_signed_message
    if not isinstance(shows, bool):
        raise InvalidConfiguration(f"shows_signed_message must be True or False, not {shows!r}")
    auth = SignatureAuth(
        api_key,
        api_secret,
        now=now,
        reads_refusals=False,
        shows_signed_message=shows_signed_message,
    )
    return Session(check_url(base_url), auth, Terms(policy, Limiter()), timeout_s)


def _check_options(options: CallOptions) -> None:
    timeout_s: object = options.get("timeout_s", DEFAULT_TIMEOUT_S)
    if not (_is_number(timeout_s) and 0 < timeout_s < _MAX_TIMEOUT_S):
        raise InvalidConfiguration(f"timeout_s must be a number above 0, not {timeout_s!r}")
    deadline_s: object = options.get("deadline_s")
    if deadline_s is not None and not (_is_number(deadline_s) and deadline_s > 0):
        raise InvalidConfiguration(
            f"deadline_s must be a number above 0 or None, not {deadline_s!r}"
        )
    policy: object = options.get("retry", DEFAULT_POLICY)
    if not isinstance(policy, RetryPolicy):
        raise InvalidConfiguration(f"retry must be a RetryPolicy, not {policy!r}")
    given: dict[str, object] = policy._asdict()
    for name, value in given.items():
        if not (_is_number(value) and value >= 0):
            raise InvalidConfiguration(f"retry.{name} must be a number from 0, not {value!r}")
    check_function(options.get("on_retry"), "on_retry", is_needed=False)


def _is_number(value: object) -> TypeGuard[float]:
    """Of bool, which is an int, True would be a second."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_function(value: object, name: str, *, is_needed: bool = True) -> None:
    """Raises InvalidConfiguration."""
    if not callable(value) and (is_needed or value is not None):
        raise InvalidConfiguration(f"{name} must be a function, not {value!r}")


def free_headers(method: str, body: bytes, headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return the headers of a request with any path: JSON, and an Idempotency-Key with POST."""
    own = {"content-type": "application/json"} if body else {}
    if method == "POST":
        own["idempotency-key"] = new_key()
    return {**own, **{name.lower(): value for name, value in (headers or {}).items()}}
