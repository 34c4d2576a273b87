"""`sealdesk doctor --public-url`: does what clients sign arrive as they sent it?"""

from collections.abc import Iterator

from sealdesk.cli.doctor import diagnosis, probes
from sealdesk.cli.doctor.diagnosis import Alteration, Harmed
from sealdesk.cli.doctor.finding import Finding, State
from sealdesk.cli.doctor.probes import Probe
from sealdesk.cli.doctor.raw_http import Answer, NoAnswer, Site, exchange, site_of
from sealdesk.cli.doctor.remedies import mend_for
from sealdesk.cli.requests import credential

_PROVEN_HEADERS = (
    "ratelimit-policy",
    "ratelimit",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
    "x-content-type-options",
)
_WORST_FIRST: tuple[State, ...] = ("bad", "note")
# Requests without a signature: the status of the answer, and a header that must come back with it.
_REFUSALS = (
    ("GET", probes.WHOAMI, 401, ("www-authenticate", "HMAC-SHA256")),
    ("DELETE", probes.WHOAMI, 405, ("allow", "GET, HEAD")),
    ("GET", b"/api/v1/external/nothing", 404, ("content-type", "application/problem+json")),
)


class _Way:
    """The way to the service: sends probes, and notes what became of them.

    harms: everything that was found to be changed. servers: who claimed to answer.
    """

    def __init__(self, site: Site, api_key: str, secret: str) -> None:
        self._site = site
        self._api_key = api_key
        self._secret = secret
        self.harms: dict[Alteration, None] = {}
        self.servers: set[str] = set()

    def answer(self, method: str, request: bytes) -> Answer:
        """Raises NoAnswer."""
        answer = exchange(self._site, method, request)
        self.servers.add(answer.headers.get("server", ""))
        return answer

    def signed(self, probe: Probe) -> tuple[Answer, Harmed | None]:
        """The answer to a probe, and what happened to it. Raises NoAnswer."""
        parts, request = diagnosis.signed(self._site, probe, self._api_key, self._secret)
        answer = self.answer(probe.method, request)
        return answer, diagnosis.judge(self._site, parts, answer)

    def unsigned(self, method: str, target: bytes) -> Answer:
        """Raises NoAnswer."""
        return self.answer(method, diagnosis.unsigned(self._site, method, target))

    def fate(self, probe: Probe) -> Harmed | None:
        """What happened to a probe that did not arrive as it was sent."""
        try:
            return self.signed(probe)[1]
        except NoAnswer as error:
            return Harmed("unreachable", (f"no answer: {error}",), is_refusal=True)


def examine(url: str) -> Iterator[Finding]:
    """Send every probe to the service behind this address. Raises Unfit."""
    way = _Way(site_of(url), credential("SEALDESK_API_KEY"), credential("SEALDESK_API_SECRET"))
    for about, group in probes.GROUPS.items():
        finding = _tried(way, about, group)
        yield finding
        if about == "plain" and finding.state == "bad":
            break  # the others would only say the same
    else:
        yield _sent_twice(way)
        yield _answers(way)
    for harm in way.harms:
        yield Finding("note", "mend", mend_for(harm, way.servers))


def _tried(way: _Way, about: str, group: tuple[Probe, ...]) -> Finding:
    states: set[State] = set()
    lines: list[str] = []
    for probe in group:
        harmed = way.fate(probe)
        if harmed is None or (harmed.is_refusal and probe.legality == "forbidden"):
            continue
        request = f"{probe.method} {diagnosis.shown(probe.target)}"
        if harmed.is_refusal and probe.legality == "tolerated":
            states.add("note")
            lines.append(f"{request} is refused, as it may be: {harmed.lines[0]}")
            continue
        if probe.legality == "forbidden":
            states.add("note")
            lines.append("no URL may hold these bytes, and they are changed on the way")
        else:
            states.add("bad")
            way.harms[harmed.harm] = None
            if harmed.harm not in ("path", "query"):
                lines.append(f"{request} did not arrive as it was sent")
        lines += harmed.lines
    return Finding(_worst(states), about, "\n".join(lines) or _unharmed(group))


def _worst(states: set[State]) -> State:
    return next((state for state in _WORST_FIRST if state in states), "good")


def _unharmed(group: tuple[Probe, ...]) -> str:
    if all(probe.legality == "forbidden" for probe in group):
        return "bytes that no URL may hold are refused, or arrive as they are"
    return f"signed requests that arrived byte for byte: {len(group)}"


def _sent_twice(way: _Way) -> Finding:
    """Of two equal headers none may get lost: the service must see what was sent, and refuses."""
    try:
        answer, _ = way.signed(probes.TWICE)
    except NoAnswer as error:
        return Finding("note", "twice", f"a repeated header gets no answer: {error}")
    if diagnosis.is_proven(answer):
        return Finding("note", "twice", "of two equal headers only one is sent on; no harm in it")
    return Finding("good", "twice", f"a repeated header is refused ({answer.status})")


def _answers(way: _Way) -> Finding:
    """Whether answers come back as they were given."""
    try:
        faults = [*_lost(way), *_cached(way), *_masked(way)]
    except NoAnswer as error:
        faults = [f"no answer: {error}"]
    if not faults:
        return Finding("good", "answers", "status, headers and problems come back")
    way.harms["answer"] = None
    return Finding("bad", "answers", "\n".join(faults))


def _lost(way: _Way) -> Iterator[str]:
    answer, _ = way.signed(probes.GROUPS["plain"][0])
    missing = [name for name in _PROVEN_HEADERS if name not in answer.headers]
    if answer.status == 429 and "retry-after" not in answer.headers:
        missing.append("retry-after")
    if missing:
        yield f"lost on the way back: {', '.join(missing)}"


def _cached(way: _Way) -> Iterator[str]:
    ids = [way.signed(probes.GROUPS["plain"][0])[0].headers.get("x-request-id") for _ in range(2)]
    if ids[0] is not None and ids[0] == ids[1]:
        yield "two requests got one answer: it comes out of a cache"


def _masked(way: _Way) -> Iterator[str]:
    for method, target, status, (name, value) in _REFUSALS:
        answer = way.unsigned(method, target)
        asked = f"{method} {target.decode()}"
        if answer.status != status:
            yield f"{asked} must be answered {status}, and is answered {answer.status}"
        elif answer.headers.get(name) != value:
            yield f"{asked} lost {name}: {value}, and has {answer.headers.get(name)}"
        elif "code" not in answer.problem:
            yield f"{asked} is answered {status}, but with another body than the service's"
