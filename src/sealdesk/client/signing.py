"""Signs requests: an `Auth` of httpx that signs the bytes and the path that are sent."""

import asyncio
import base64
import json
import logging
import os
import random
import threading
import time
import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from itertools import islice
from typing import Any

import httpx

from sealdesk.client.credentials import check_credentials
from sealdesk.client.errors import without_frames
from sealdesk.crypto.signing import Signed, message, sign

_log = logging.getLogger("sealdesk.client")
# The service accepts 300 s on both sides (interface of GET /api/v1/time); the rest is for the
# difference of the clocks and the time on the way.
_MAX_AHEAD_S = 240
# Whoever answers in place of the service could otherwise collect signatures of next year.
MAX_CORRECTION_S = 24 * 3600
_REMEMBERED_S = 600
_READS = ("GET", "HEAD")
_MAX_PROBLEM_BYTES = 64 * 1024
_MAX_SHOWN_BYTES = 4 * 1024  # of x-api-signed-message, which the service reads
# Of one attempt. With 60 processes that send the same, a tenth of the timestamps are used.
MAX_SIGNATURES = 10


class Signer:
    """Signs requests, each with a signature of its own.

    Equal requests within one second would have equal signatures, which replay protection refuses.
    So the second one is signed for the next second, and so on. offset_s: what the clock of this
    machine is behind the service, once the service has said so.
    """

    def __init__(
        self, api_key: str, api_secret: str, *, now: Callable[[], float] = time.time
    ) -> None:
        self._credentials = check_credentials(api_key, api_secret)
        self._now = now
        self._last: dict[int, int] = {}  # hash of method, target and body → timestamp, oldest first
        self.offset_s = 0
        self.renew_lock()
        _signers.add(self)

    def use_credentials(self, api_key: str, api_secret: str) -> None:
        """Sign with these from now on. Raises InvalidConfiguration."""
        self._credentials = check_credentials(api_key, api_secret)

    def renew_lock(self) -> None:
        """In a forked process: another thread of its parent may have held the lock."""
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Signer({self._credentials!r})"

    def __reduce__(self) -> tuple[Callable[..., "Signer"], tuple[Any, ...]]:
        return _make_signer, (type(self), *self._credentials, self._now)

    def sign(
        self,
        method: str,
        target: bytes,
        body: bytes,
        *,
        at_random: bool = False,
        shows_message: bool = False,
    ) -> dict[str, str] | None:
        """Return the headers of a request that is sent now.

        at_random: with any timestamp that the service accepts, since another process signs the
        same. shows_message: with the message that is signed, if it has at most 4 KiB, so that the
        service can show the first difference. None if a write has used all timestamps that the
        service accepts: wait, and sign again. Reads repeat a signature then: the service remembers
        signatures of writes only.
        """
        if at_random:
            timestamp: int | None = self._now_s() + random.randint(-_MAX_AHEAD_S, _MAX_AHEAD_S)  # noqa: S311 # no secret
        else:
            timestamp = self._take_timestamp(hash((method, target, body)))
        if timestamp is None:
            if method not in _READS:
                return None
            timestamp = self._now_s()
        parts = Signed(str(timestamp).encode(), method.encode(), target, body)
        api_key, secret = self._credentials  # a pair, also while another thread replaces it
        headers = {
            "x-api-key": api_key,
            "x-api-timestamp": str(timestamp),
            "x-api-signature": sign(secret, parts),
        }
        signed = message(parts)
        if shows_message and len(signed) <= _MAX_SHOWN_BYTES:
            headers["x-api-signed-message"] = base64.b64encode(signed).decode()
        return headers

    def correct_clock(self, server_time: int) -> bool:
        """Sign with the time of the service from now on; False if it is over a day away."""
        offset_s = server_time - int(self._now())
        if abs(offset_s) > MAX_CORRECTION_S:
            return False
        with self._lock:
            self.offset_s = offset_s
            # What was signed with the wrong time was refused, so it need not be remembered.
            latest = server_time + _MAX_AHEAD_S
            self._last = {key: at for key, at in self._last.items() if at < latest}
        return True

    def _now_s(self) -> int:
        return int(self._now()) + self.offset_s

    def _take_timestamp(self, key: int) -> int | None:
        """Return a timestamp that these bytes have not had, or None if the next is too far."""
        with self._lock:
            now_s = self._now_s()
            timestamp = max(now_s, self._last.pop(key, 0) + 1)
            is_near = timestamp < now_s + _MAX_AHEAD_S
            self._last[key] = timestamp if is_near else timestamp - 1
            self._forget(now_s)
            return timestamp if is_near else None

    def _forget(self, now_s: int) -> None:
        """Delete what has expired among the oldest two: each call adds at most one."""
        for key in list(islice(self._last, 2)):
            if self._last[key] < now_s - _REMEMBERED_S:
                del self._last[key]


class SignatureAuth(httpx.Auth):
    """Signs each attempt of a request, for any client of httpx: `httpx.Client(auth=…)`.

    If the service refuses the timestamp, corrects the clock once by the time that it says, and
    sends the request again; likewise a write whose signature another process has used. A request
    whose signature is refused is sent once more with what was signed, so that the refusal shows
    the first difference.
    """

    @without_frames
    def __init__(
        self,
        api_key: str,
        api_secret: str,
        *,
        now: Callable[[], float] = time.time,
        reads_refusals: bool = True,
        shows_signed_message: bool = True,
    ) -> None:
        """reads_refusals: False if the sender calls `may_sign_again` itself.

        shows_signed_message: False, and no refused request is sent again to be explained.
        """
        self.signer = Signer(api_key, api_secret, now=now)
        self._reads_refusals = reads_refusals
        self._shows_signed_message = shows_signed_message

    def __repr__(self) -> str:
        return f"SignatureAuth({self.signer!r})"

    def sync_auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign, send, and send again what another signature may mend."""
        body = request.read()
        for _ in range(MAX_SIGNATURES):
            while not self._sign(request, body):
                time.sleep(1)
            response = yield request
            if not self._reads(response) or not self.may_sign_again(request, response.read()):
                return

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Sign, send, and send again what another signature may mend."""
        body = await request.aread()
        for _ in range(MAX_SIGNATURES):
            # It waits for the clock, which sets no event.
            while not self._sign(request, body):  # noqa: ASYNC110
                await asyncio.sleep(1)
            response = yield request
            if not self._reads(response) or not self.may_sign_again(
                request, await response.aread()
            ):
                return

    def _sign(self, request: httpx.Request, body: bytes) -> bool:
        headers = self.signer.sign(
            request.method,
            find_target(request),
            body,
            at_random=request.extensions.get("is_replayed", False),
            shows_message=request.extensions.get("shows_message", False),
        )
        if headers is None:
            return False
        request.headers.update(headers)
        return True

    def _reads(self, response: httpx.Response) -> bool:
        return self._reads_refusals and response.status_code == 401

    def may_sign_again(self, request: httpx.Request, refusal: bytes) -> bool:
        """Whether to send the request, which had no effect, with another signature.

        It may succeed then, or its refusal say what is wrong.
        refusal: the body of a response with status 401. The next signature is another one.
        """
        problem = _read_problem(refusal)
        if problem.get("code") == "signature_replayed":
            request.extensions["is_replayed"] = True
            return True
        if problem.get("code") == "invalid_signature":
            is_explained = request.extensions.get("shows_message", False)
            request.extensions["shows_message"] = True
            return self._shows_signed_message and not is_explained
        is_first = not request.extensions.get("is_clock_corrected")
        request.extensions["is_clock_corrected"] = True
        return is_first and self._correct_clock(problem)

    def _correct_clock(self, problem: dict[str, Any]) -> bool:
        """Sign with the time in the refusal of a timestamp from now on.

        False for other problems, and for a time that is over a day away.
        """
        server_time = _find_server_time(problem)
        if server_time is None or not self.signer.correct_clock(server_time):
            return False
        _log.warning(
            "the clock of this machine is %s s %s the service's; requests are now signed with the"
            " time of the service. Set the clock of this machine.",
            abs(self.signer.offset_s),
            "behind" if self.signer.offset_s > 0 else "ahead of",
        )
        return True


def find_target(request: httpx.Request) -> bytes:
    """Return path and query as they are sent, without a `?` that no query follows.

    Servers do not see such a `?`, so no signature with it would be valid.
    """
    exact = request.extensions.get("target")
    if isinstance(exact, bytes):
        if exact.endswith(b"?") and exact.count(b"?") == 1:
            request.extensions["target"] = exact = exact[:-1]
        return exact
    if request.url.raw_path.endswith(b"?") and not request.url.query:
        request.url = request.url.copy_with(query=None)
    return request.url.raw_path


def _read_problem(body: bytes) -> dict[str, Any]:
    """Return the members of a problem, none of another body."""
    if len(body) > _MAX_PROBLEM_BYTES:
        return {}
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return problem if isinstance(problem, dict) else {}


def _find_server_time(problem: dict[str, Any]) -> int | None:
    """Return the time of the service from its refusal of a timestamp, or None."""
    if problem.get("code") != "timestamp_out_of_range":
        return None
    try:
        return int(problem["server_time"])
    except (ValueError, LookupError, TypeError, OverflowError):
        return None


def _make_signer(kind: type[Signer], api_key: str, secret: str, now: Callable[[], float]) -> Signer:
    return kind(api_key, secret, now=now)


_signers: weakref.WeakSet[Signer] = weakref.WeakSet()


def _renew_locks() -> None:
    for signer in _signers:
        signer.renew_lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_renew_locks)
