"""Following the events feed from a command: page by page, and through absences of the service."""

import json as json_text
import time
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec

from sealdesk.cli.requests import Away, api_url, exchange, signed
from sealdesk.errors import ConfigurationError

_PATH = "/api/v1/external/events"
_PAGE_EVENTS = 100
_WAIT_S = 30  # the longest that the service waits
_TIMEOUT_S = _WAIT_S + 15
_PAUSES_S = (1, 2, 4, 8, 15, 30)
_ADVICE = {
    "api_key_revoked": "Make another one: sealdesk keys create.",
    "insufficient_permissions": "Make a key with tickets:read, replies:read or customers:read.",
    "cursor_expired": "Leave --cursor out to begin now, or use --since-beginning.",
    "invalid_cursor": "Give one that this command has printed, with the same --events.",
    "not_found": "Is SEALDESK_API_URL the address of a Sealdesk with an events feed?",
}


class _Meta(msgspec.Struct):
    resume_cursor: str


class _Page(msgspec.Struct):
    data: list[msgspec.Raw]
    meta: _Meta


class Start(NamedTuple):
    """Where to begin: behind a cursor; without one at the first event kept, or at the next."""

    types: str
    cursor: str
    since_beginning: bool


class _Later(Away):
    """The service cannot answer now; the text says why. pause_s: when it said so itself."""

    def __init__(self, text: str, pause_s: int | None = None) -> None:
        super().__init__(text)
        self.pause_s = pause_s


class Feed:
    """A tenant's events. cursor: behind the last page that was used up."""

    def __init__(self, start: Start, tell: Callable[[str], None]) -> None:
        self._types = start.types
        self._tell = tell
        self.cursor = start.cursor
        begin = {"start": "oldest" if start.since_beginning else "latest"}
        # Without a wait: where it begins is fixed now, and not when the first event comes.
        self._first = self._page({"cursor": self.cursor} if self.cursor else begin, wait_s=0)

    def pages(self) -> Iterator[list[bytes]]:
        """Events as the service sent them, oldest first, for ever. Raises Unfit."""
        page = self._first
        while True:
            yield [bytes(event) for event in page.data]
            self.cursor = page.meta.resume_cursor
            page = self._next()

    def _next(self) -> _Page:
        failures = 0
        while True:
            began_s = time.monotonic()
            try:
                # After an absence without a wait, to tell at once that it is over.
                page = self._page({"cursor": self.cursor}, wait_s=0 if failures else _WAIT_S)
            except Away as error:
                pause_s = getattr(error, "pause_s", None) or _PAUSES_S[min(failures, 5)]
                failures += 1
                self._tell(f"Trying again in {pause_s} s: {error}")
                time.sleep(pause_s)
                continue
            if failures:
                self._tell(f"{api_url()} answers again; nothing was missed")
            failures = 0
            if page.data:
                return page
            self.cursor = page.meta.resume_cursor
            # One that is about to stop does not wait.
            time.sleep(max(0.0, 1.0 - (time.monotonic() - began_s)))

    def _page(self, query: dict[str, str], *, wait_s: int) -> _Page:
        query = {**query, "per_page": str(_PAGE_EVENTS), "wait": str(wait_s)}
        if self._types:
            query["type"] = self._types
        request = signed("GET", f"{_PATH}?{urlencode(query)}")
        answer, body = exchange(request, _TIMEOUT_S)
        if answer.status == 200:
            try:
                return msgspec.json.decode(body, type=_Page)
            except msgspec.MsgspecError as error:
                raise ConfigurationError(
                    f"{api_url()} does not answer as Sealdesk does: {error}"
                ) from error
        raise _refused(answer, body)


def _refused(answer: HTTPResponse, body: bytes) -> Exception:
    try:
        problem = json_text.loads(body)
        code, detail = str(problem["code"]), str(problem["detail"])
    except (ValueError, LookupError, TypeError):
        code, detail = "", f"{answer.status} {answer.reason}"
    if answer.status == 429 or answer.status >= 500:
        pause = answer.getheader("retry-after") or ""
        seconds = int(pause) if pause.isdigit() else None
        return _Later(f"{api_url()}: {detail.rstrip('.')}", seconds)
    return ConfigurationError(" ".join((f"{api_url()}: {detail}", _ADVICE.get(code, ""))).strip())
