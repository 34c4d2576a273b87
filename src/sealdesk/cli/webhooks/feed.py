"""Reads the events feed page by page and retries while the service is unreachable."""

import json as json_text
import time
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec

from sealdesk.cli.requests import ServiceUnreachable, api_url, send, sign_request
from sealdesk.errors import ConfigurationError

_PATH = "/api/v1/external/events"
_PAGE_EVENTS = 100
_WAIT_S = 30  # the longest wait that the service accepts
_TIMEOUT_S = _WAIT_S + 15
_PAUSES_S = (1, 2, 4, 8, 15, 30)
_ADVICE = {
    "api_key_revoked": "Create another one: sealdesk keys create.",
    "insufficient_permissions": "Use a key with tickets:read, replies:read or customers:read.",
    "cursor_expired": "Omit --cursor to start at the next event, or use --since-beginning.",
    "invalid_cursor": "Use a cursor that this command printed, with the same --events.",
    "not_found": "Is SEALDESK_API_URL the URL of a Sealdesk service with an events feed?",
}


class _Meta(msgspec.Struct):
    resume_cursor: str


class _Page(msgspec.Struct):
    data: list[msgspec.Raw]
    meta: _Meta


class Start(NamedTuple):
    """Where to start: after the cursor; without one, at the oldest stored or at the next event."""

    types: str
    cursor: str
    since_beginning: bool


class _TemporaryFailure(ServiceUnreachable):
    """The service cannot respond now. pause_s: the Retry-After of the response, if it had one."""

    def __init__(self, text: str, pause_s: int | None = None) -> None:
        super().__init__(text)
        self.pause_s = pause_s


class Feed:
    """The events of a tenant. cursor: the position after the last page that was processed."""

    def __init__(self, start: Start, report: Callable[[str], None]) -> None:
        self._types = start.types
        self._report = report
        self.cursor = start.cursor
        begin = {"start": "oldest" if start.since_beginning else "latest"}
        # No wait: this fixes the starting position now, not when the first event arrives.
        self._first_page = self._read_page(
            {"cursor": self.cursor} if self.cursor else begin, wait_s=0
        )

    def pages(self) -> Iterator[list[bytes]]:
        """Yield pages of events, byte for byte and oldest first, without end.

        Raises ConfigurationError.
        """
        page = self._first_page
        while True:
            yield [bytes(event) for event in page.data]
            self.cursor = page.meta.resume_cursor
            page = self._read_next_page()

    def _read_next_page(self) -> _Page:
        failures = 0
        while True:
            began_s = time.monotonic()
            try:
                # After a failure without a wait, to report at once that the service responds.
                page = self._read_page({"cursor": self.cursor}, wait_s=0 if failures else _WAIT_S)
            except ServiceUnreachable as error:
                pause_s = getattr(error, "pause_s", None) or _PAUSES_S[min(failures, 5)]
                failures += 1
                self._report(f"Retrying in {pause_s} s: {error}")
                time.sleep(pause_s)
                continue
            if failures:
                self._report(f"{api_url()} responds again; no event was missed")
            failures = 0
            if page.data:
                return page
            self.cursor = page.meta.resume_cursor
            # A service that is draining responds at once, whatever the wait.
            time.sleep(max(0.0, 1.0 - (time.monotonic() - began_s)))

    def _read_page(self, query: dict[str, str], *, wait_s: int) -> _Page:
        query = {**query, "per_page": str(_PAGE_EVENTS), "wait": str(wait_s)}
        if self._types:
            query["type"] = self._types
        request = sign_request("GET", f"{_PATH}?{urlencode(query)}")
        response, body = send(request, _TIMEOUT_S)
        if response.status == 200:
            try:
                return msgspec.json.decode(body, type=_Page)
            except msgspec.MsgspecError as error:
                raise ConfigurationError(
                    f"{api_url()} did not respond with a page of events: {error}"
                ) from error
        raise _error_for(response, body)


def _error_for(response: HTTPResponse, body: bytes) -> Exception:
    try:
        problem = json_text.loads(body)
        code, detail = str(problem["code"]), str(problem["detail"])
    except (ValueError, LookupError, TypeError):
        code, detail = "", f"{response.status} {response.reason}"
    if response.status == 429 or response.status >= 500:
        retry_after = response.getheader("retry-after") or ""
        seconds = int(retry_after) if retry_after.isdigit() else None
        return _TemporaryFailure(f"{api_url()}: {detail.rstrip('.')}", seconds)
    return ConfigurationError(" ".join((f"{api_url()}: {detail}", _ADVICE.get(code, ""))).strip())
