"""An agent of the big tenant, logged in, who asks for pages as a browser does."""

import asyncio
import http.client
import secrets
import time
from collections.abc import Mapping, Set
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

from bench.build import AGENT
from bench.data import Data
from bench.load import WrongAnswer
from bench.signed import Make
from sealdesk.caller import SYSTEM
from sealdesk.db.engine import Tx
from sealdesk.db.factory import open_database
from sealdesk.identity import actions as identity
from sealdesk.identity.auth import passwords
from sealdesk.settings import Settings, from_env

_TIMEOUT_S = 30.0
# What browsers fetch by themselves: the tag, and the attribute that names it.
_FETCHED = {"link": "href", "script": "src", "img": "src"}


class Loaded(NamedTuple):
    """What a page brought. size: of all heads and bodies, in bytes. foreign: other sites named.

    text: the page itself. kept: what a browser asks for no more.
    """

    requests: int
    size: int
    foreign: set[str]
    text: str
    kept: set[str]


class Person:
    """Holds the cookie of a log-in."""

    def __init__(self, port: int, email: str, password: str) -> None:
        """Log in. Raises WrongAnswer."""
        self._port = port
        self._cookie = ""
        form = urlencode({"email": email, "password": password}).encode()
        status, head, _ = self._ask("POST", "/log-in", form)
        self._cookie = (head["set-cookie"] or "").partition(";")[0]
        if status != 303 or not self._cookie:
            raise WrongAnswer(f"the log-in was answered with {status}")

    def gets(self, *targets: str) -> Make:
        """Makes requests for pages in turn."""
        head = [f"{name}: {value}" for name, value in self._headers.items()]
        requests = [
            "\r\n".join([f"GET {target} HTTP/1.1", *head, "", ""]).encode() for target in targets
        ]
        return lambda count: [requests[n % len(requests)] for n in range(count)]

    def read(self, target: str) -> str:
        """A page. Raises WrongAnswer."""
        status, _, body = self._ask("GET", target)
        if status != 200:
            raise WrongAnswer(f"{target} was answered with {status}")
        return body.decode()

    def load(self, target: str, kept: Set[str] = frozenset()) -> Loaded:
        """A page and everything that its HTML names but for what was kept. Raises WrongAnswer."""
        status, head, body = self._ask("GET", target)
        text, size, lasting = body.decode(), len(head.as_bytes()) + len(body), set(kept)
        named = {urljoin(target, name) for name in _named(text)}
        foreign = {name for name in named if urlsplit(name).netloc}
        for name in named - foreign - kept:
            found, head, body = self._ask("GET", name)
            status, size = max(status, found), size + len(head.as_bytes()) + len(body)
            if "immutable" in (head["cache-control"] or ""):
                lasting.add(name)
        if status != 200:
            raise WrongAnswer(f"{target}, or what it names, was answered with {status}")
        return Loaded(1 + len(named - kept), size, foreign, text, lasting)

    @property
    def _headers(self) -> Mapping[str, str]:
        accepted = {"accept": "text/html", "accept-encoding": "gzip", "accept-language": "en"}
        return {"host": f"127.0.0.1:{self._port}", "cookie": self._cookie, **accepted}

    def _ask(
        self, method: str, target: str, form: bytes | None = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT_S)
        typed = {"content-type": "application/x-www-form-urlencoded"} if form else {}
        try:
            connection.request(method, target, form, {**self._headers, **typed})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


def let_in(data: Data, env: Mapping[str, str]) -> tuple[str, str]:
    """Give the big tenant's first agent a new password; address and password.

    env: names the database, where it is not the file.
    """
    settings = from_env({"SEALDESK_DATA_DIR": str(data.settings.data_dir), **env})
    email, password = AGENT.format(number=0, place=0), secrets.token_urlsafe(16)
    asyncio.run(_set_password(settings, data.big, email, passwords.hash_now(password)))
    return email, password


async def _set_password(settings: Settings, tenant_id: str, email: str, hashed: str) -> None:
    now_us = time.time_ns() // 1000

    async def work(tx: Tx) -> None:
        user = await identity.get_user_by_email(tx, email)
        await identity.set_password(tx, user, hashed, actor=SYSTEM, address="", now_us=now_us)

    database = open_database(settings, name="bench", has_time=True)
    try:
        await database.write(work, tenant_id)
    finally:
        await database.close()


def _named(page: str) -> set[str]:
    found = _Named()
    found.feed(page)
    return found.names


class _Named(HTMLParser):
    """Collects what a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = dict(attrs).get(_FETCHED.get(tag, ""))
        if name:
            self.names.add(name)
