"""The checks that ask the service at SEALDESK_API_URL, which may run on another machine."""

import ipaddress
import re
import time
from collections.abc import Iterator

import httpx

from sealdesk.cli.doctor.finding import Finding
from sealdesk.client import InvalidConfiguration
from sealdesk.client.credentials import read_url
from sealdesk.settings import Settings

_TIMEOUT_S = 2.0
_GOOD_SKEW_S = 5
_SET_URL = "set SEALDESK_API_URL if it runs elsewhere"
_NO_ANSWER = (httpx.HTTPError, ValueError, KeyError, TypeError)
_SAMPLE = re.compile(
    r'^sealdesk_untrusted_forwarded_requests_total\{peer="([^"]*)"\} (\S+)', re.MULTILINE
)
_REMEDY = (
    "whose X-Forwarded-For is ignored, so that all clients behind it share one address and its"
    " limit of failed log-ins; if it is your proxy, add it to SEALDESK_TRUSTED_PROXIES"
)


def check(settings: Settings) -> Iterator[Finding]:
    """What it is busy with, its clock, and proxies that SEALDESK_TRUSTED_PROXIES does not name."""
    try:
        url = read_url()
    except InvalidConfiguration as error:
        yield Finding("note", "routes", f"not read: {error}")
        yield Finding("bad", "clock", str(error))
        yield Finding("note", "proxies", f"not looked at: /metrics cannot be read ({error})")
        return
    yield _name_dearest_routes(url, settings.metrics_token)
    yield _check_clock(url, settings.max_skew_s)
    yield _check_proxies(url, settings.metrics_token)


def _get(url: str, token: str = "") -> httpx.Response:
    """Raises HTTPError."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.get(url, headers=headers, timeout=_TIMEOUT_S)


def _name_dearest_routes(url: str, token: str) -> Finding:
    try:
        routes = _get(f"{url}/healthz/installation", token).json()["data"]["dearest_routes"]
        named = ", ".join(f"{each['route']} {each['loop_seconds']:.1f} s" for each in routes)
    except _NO_ANSWER:
        return Finding("note", "routes", f"not read: no service tells them at {url}; {_SET_URL}")
    text = f"the service was busiest in the last hour with {named}"
    return Finding("good", "routes", text if routes else "no request in the last hour")


def _check_clock(url: str, max_skew_s: int) -> Finding:
    try:
        server_unix_s = _get(f"{url}/api/v1/time").json()["data"]["unix"]
    except _NO_ANSWER:
        return Finding("note", "clock", f"not compared: no service responds at {url}; {_SET_URL}")
    skew_s = abs(int(time.time()) - server_unix_s)
    text = f"differs by {skew_s} s from the clock at {url}; the limit is {max_skew_s} s"
    if skew_s > max_skew_s:
        return Finding("bad", "clock", text)
    return Finding("good" if skew_s <= _GOOD_SKEW_S else "note", "clock", text)


def _check_proxies(url: str, token: str) -> Finding:
    """By the metrics, of one process if there are several."""
    try:
        samples = _SAMPLE.findall(_get(f"{url}/metrics", token).raise_for_status().text)
    except httpx.HTTPError as error:
        return Finding("note", "proxies", f"not looked at: /metrics cannot be read ({error})")
    counts = {peer: int(float(count)) for peer, count in samples}
    if not counts:
        return Finding("good", "proxies", "no untrusted peer is known that forwards requests")
    peer = max(counts, key=lambda each: (_is_private(each), counts[each]))
    text = f"{counts[peer]} requests came from {peer}, {_REMEDY}"
    # Clients can send the header too, but few of them in a private network.
    return Finding("bad" if _is_private(peer) else "note", "proxies", text)


def _is_private(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_private
    except ValueError:
        return False
