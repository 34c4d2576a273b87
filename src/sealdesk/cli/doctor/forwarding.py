"""The check for proxies that SEALDESK_TRUSTED_PROXIES does not name."""

import ipaddress
import re

import httpx

from sealdesk.cli.doctor.finding import Finding
from sealdesk.client import InvalidConfiguration
from sealdesk.client.credentials import read_url
from sealdesk.settings import Settings

_TIMEOUT_S = 2.0
_SAMPLE = re.compile(
    r'^sealdesk_untrusted_forwarded_requests_total\{peer="([^"]*)"\} (\S+)', re.MULTILINE
)
_REMEDY = (
    "whose X-Forwarded-For is ignored, so that all clients behind it share one address and its"
    " limit of failed log-ins; if it is your proxy, add it to SEALDESK_TRUSTED_PROXIES"
)


def check(settings: Settings) -> Finding:
    """Read the metrics of the service at SEALDESK_API_URL, of one process if there are several."""
    try:
        samples = _SAMPLE.findall(_read_metrics(settings.metrics_token))
    except (httpx.HTTPError, InvalidConfiguration) as error:
        return Finding("note", "proxies", f"not looked at: /metrics cannot be read ({error})")
    counts = {peer: int(float(count)) for peer, count in samples}
    if not counts:
        return Finding("good", "proxies", "no untrusted peer is known that forwards requests")
    peer = max(counts, key=lambda each: (_is_private(each), counts[each]))
    text = f"{counts[peer]} requests came from {peer}, {_REMEDY}"
    # Clients can send the header too, but few of them in a private network.
    return Finding("bad" if _is_private(peer) else "note", "proxies", text)


def _read_metrics(token: str) -> str:
    """Raises HTTPError, InvalidConfiguration."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = httpx.get(f"{read_url()}/metrics", headers=headers, timeout=_TIMEOUT_S)
    return response.raise_for_status().text


def _is_private(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_private
    except ValueError:
        return False
