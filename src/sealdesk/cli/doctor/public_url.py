"""`sealdesk doctor --public-url`: checks that signed requests pass a proxy unchanged."""

from collections.abc import Iterator

from sealdesk.cli.doctor import diagnosis, probes, raw_http
from sealdesk.cli.doctor.diagnosis import Alteration, AlteredRequest
from sealdesk.cli.doctor.finding import Finding, State
from sealdesk.cli.doctor.probes import Probe
from sealdesk.cli.doctor.raw_http import (
    NoResponse,
    Response,
    Site,
    UntrustedCertificate,
    parse_site,
)
from sealdesk.cli.doctor.remedies import remedy_for
from sealdesk.client.credentials import read_credentials

_PROVEN_HEADERS = (
    "ratelimit-policy",
    "ratelimit",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
    "x-content-type-options",
)
# Headers that show a cache: of RFC 9110 and 9111, of Varnish, and usual ones of other caches.
_CACHE_HEADERS = {"age", "via", "x-varnish", "x-cache", "x-cache-status", "cf-cache-status"}
_CACHE_CONTROL = "private, no-store"
_WORST_FIRST: tuple[State, ...] = ("bad", "note")
# Unsigned requests, with the status and a header that their responses must have.
_UNSIGNED_REQUESTS = (
    ("GET", probes.WHOAMI, 401, ("www-authenticate", "HMAC-SHA256")),
    ("DELETE", probes.WHOAMI, 405, ("allow", "GET, HEAD")),
    ("GET", b"/api/v1/external/nothing", 404, ("content-type", "application/problem+json")),
)


class _PublicSite:
    """Sends probes to the public URL and collects what the responses show.

    alterations: every kind of alteration found. servers: the Server headers of the responses.
    cache_headers: headers of the responses that show a cache, with a value of each.
    """

    def __init__(self, site: Site, api_key: str, secret: str) -> None:
        self._site = site
        self._api_key = api_key
        self._secret = secret
        self.alterations: dict[Alteration, None] = {}
        self.servers: set[str] = set()
        self.cache_headers: dict[str, str] = {}

    def send(self, method: str, request: bytes) -> Response:
        """Raises NoResponse."""
        response = raw_http.send(self._site, method, request)
        self.servers.add(response.headers.get("server", ""))
        for name in _CACHE_HEADERS & response.headers.keys():
            self.cache_headers[name] = response.headers[name]
        if "x-varnish" in response.headers:
            self.servers.add("varnish")
        return response

    def send_signed(self, probe: Probe) -> tuple[Response, AlteredRequest | None]:
        """Send a probe; return its response, and how it was altered. Raises NoResponse."""
        parts, request = diagnosis.sign_probe(self._site, probe, self._api_key, self._secret)
        response = self.send(probe.method, request)
        return response, diagnosis.diagnose(self._site, parts, response)

    def send_unsigned(self, method: str, target: bytes) -> Response:
        """Raises NoResponse."""
        return self.send(method, diagnosis.unsigned_request(self._site, method, target))

    def diagnose(self, probe: Probe) -> AlteredRequest | None:
        """Return how a probe was altered on the way, or None."""
        try:
            return self.send_signed(probe)[1]
        except UntrustedCertificate as error:
            return AlteredRequest("certificate", (f"the certificate: {error}",), is_refusal=True)
        except NoResponse as error:
            return AlteredRequest("unreachable", (f"no response: {error}",), is_refusal=True)


def check(url: str) -> Iterator[Finding]:
    """Send every probe to the service at this URL.

    Raises ConfigurationError, InvalidConfiguration.
    """
    api_key, secret = read_credentials()
    site = _PublicSite(parse_site(url), api_key, secret)
    for about, group in probes.GROUPS.items():
        finding = _check_group(site, about, group)
        yield finding
        if about == "plain" and finding.state == "bad":
            break  # every other probe would fail in the same way
    else:
        yield _check_repeated_header(site)
        yield _check_responses(site)
        yield _check_caching(site)
    for alteration in site.alterations:
        yield Finding("note", "mend", remedy_for(alteration, site.servers))


def _check_group(site: _PublicSite, about: str, group: tuple[Probe, ...]) -> Finding:
    states: set[State] = set()
    lines: list[str] = []
    for probe in group:
        altered = site.diagnose(probe)
        if altered is None or (altered.is_refusal and probe.legality == "forbidden"):
            continue
        request = f"{probe.method} {diagnosis.printable(probe.target)}"
        if altered.is_refusal and probe.legality == "tolerated":
            states.add("note")
            lines.append(f"{request} is refused, which is allowed: {altered.lines[0]}")
            continue
        if probe.legality == "forbidden":
            states.add("note")
            lines.append("a URL may not contain these bytes, and the proxy changes them")
        else:
            states.add("bad")
            site.alterations[altered.alteration] = None
            if altered.alteration not in ("path", "query"):
                lines.append(f"{request} did not arrive unchanged")
        lines += altered.lines
    return Finding(_worst_state(states), about, "\n".join(lines) or _describe_success(group))


def _worst_state(states: set[State]) -> State:
    return next((state for state in _WORST_FIRST if state in states), "good")


def _describe_success(group: tuple[Probe, ...]) -> str:
    if all(probe.legality == "forbidden" for probe in group):
        return "bytes that a URL may not contain are refused, or arrive unchanged"
    return f"signed requests that arrived byte for byte: {len(group)}"


def _check_repeated_header(site: _PublicSite) -> Finding:
    """The service must receive both of two equal headers, and then refuses the request."""
    try:
        response, _ = site.send_signed(probes.REPEATED_HEADER)
    except NoResponse as error:
        return Finding("note", "twice", f"no response to a repeated header: {error}")
    if diagnosis.is_signature_accepted(response):
        return Finding(
            "note", "twice", "the proxy passes on only one of two equal headers, which does no harm"
        )
    return Finding("good", "twice", f"a repeated header is refused ({response.status})")


def _check_responses(site: _PublicSite) -> Finding:
    """Check that responses return unchanged."""
    try:
        problems = [*_find_lost_headers(site), *_find_replaced_errors(site)]
    except NoResponse as error:
        problems = [f"no response: {error}"]
    if not problems:
        return Finding("good", "answers", "status, headers and error bodies return unchanged")
    site.alterations["answer"] = None
    return Finding("bad", "answers", "\n".join(problems))


def _find_lost_headers(site: _PublicSite) -> Iterator[str]:
    response, _ = site.send_signed(probes.GROUPS["plain"][0])
    missing = [name for name in _PROVEN_HEADERS if name not in response.headers]
    if response.status == 429 and "retry-after" not in response.headers:
        missing.append("retry-after")
    if missing:
        yield f"lost on the way back: {', '.join(missing)}"


def _check_caching(site: _PublicSite) -> Finding:
    """Check that no cache responds for the service: it may give a tenant's data to others."""
    try:
        problems = list(_find_cached_responses(site))
    except NoResponse as error:
        problems = [f"no response: {error}"]
    headers = ", ".join(f"{name}: {value}" for name, value in sorted(site.cache_headers.items()))
    if not problems and not headers:
        return Finding("good", "cache", "every response comes from the service, not from a cache")
    site.alterations["cache"] = None
    if problems:
        return Finding("bad", "cache", "\n".join(problems))
    return Finding(
        "note", "cache", f"there may be a cache ({headers}); it did not store these responses"
    )


def _find_cached_responses(site: _PublicSite) -> Iterator[str]:
    """Ask for the same URL twice with a signature, and then without."""
    probe = probes.GROUPS["plain"][0]
    first, second = site.send_signed(probe)[0], site.send_signed(probe)[0]
    unsigned = site.send_unsigned(probe.method, probe.target)
    ids = [response.headers.get("x-request-id") for response in (first, second, unsigned)]
    if ids[0] is not None and ids[0] == ids[1]:
        yield "two requests got the same response: it comes from a cache"
    if unsigned.status == 200:
        yield "a request without a signature got the response of a signed one, from a cache"
    arrived = first.headers.get("cache-control")
    if arrived != _CACHE_CONTROL:
        yield f"Cache-Control must be {_CACHE_CONTROL}, but arrives as {arrived}"


def _find_replaced_errors(site: _PublicSite) -> Iterator[str]:
    for method, target, status, (name, value) in _UNSIGNED_REQUESTS:
        response = site.send_unsigned(method, target)
        request_line = f"{method} {target.decode()}"
        if response.status != status:
            yield f"{request_line} must return {status}, but returns {response.status}"
        elif response.headers.get(name) != value:
            yield f"{request_line} lost {name}: {value}, and has {response.headers.get(name)}"
        elif "code" not in response.problem:
            yield f"{request_line} returns {status}, but not with the body of the service"
