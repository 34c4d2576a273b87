"""The processor time of naming the mistake in a refused signature, alone and in the server."""

import http.client
import statistics
import time
from itertools import cycle, islice

import msgspec

from bench.databases.build import BenchKey
from bench.databases.sqlite_data import Data
from bench.figures.figure import Figure, Results
from bench.load.clients import WrongResponse
from bench.load.rounds import ShowProgress
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores, Server
from sealdesk.crypto.diagnosis import MAX_BODY_BYTES, MAX_TARGET_BYTES, diagnose
from sealdesk.crypto.diagnosis.messages import MAX_SERIALISED_BYTES
from sealdesk.crypto.signing import Signed

_ROUNDS = 25
_SAMPLES = 100
_MOST_REFUSALS = 2_000  # 300 of an address are diagnosed in a minute
_NO_SIGNATURE = b"0" * 64  # matches no mistake, so that every one is tried
_TARGET = b"/api/v1/external/tickets?tag=a%20b&status=open"
_LONG_TARGET = (_TARGET + b"&a=").ljust(MAX_TARGET_BYTES, b"b")
_ITEM = {"subject": "Größe / 1", "tags": ["a", "b"], "number": 1.5, "is_open": True}
_NESTED_ITEM = b"[" * 30 + b"1" + b"]" * 30


def measure(plan: Plan, built: Data, show_progress: ShowProgress) -> Results:
    """Of the largest JSON bodies that are diagnosed. Raises WrongResponse."""
    item = msgspec.json.encode(_ITEM)
    bodies = {
        "4 KiB of JSON": _list_of(item, MAX_SERIALISED_BYTES),
        "4 KiB of nested JSON": _list_of(_NESTED_ITEM, MAX_SERIALISED_BYTES),
        "64 KiB of JSON": _list_of(item, MAX_BODY_BYTES),
    }
    figures = []
    for name, body in bodies.items():
        show_progress(f"diagnosis: {name}")
        figures.append(_figure(name, body))
    return Results([*figures, *_in_server(plan, built, bodies["4 KiB of nested JSON"])], {})


def _list_of(item: bytes, size: int) -> bytes:
    """A JSON document of at most this many bytes."""
    return b"[" + b",".join([item] * ((size - 2) // (len(item) + 1))) + b"]"


def _figure(name: str, body: bytes) -> Figure:
    parts = Signed(b"1767225600", b"POST", _LONG_TARGET, body)
    values = []
    for _ in range(_ROUNDS):
        started_s = time.process_time()
        diagnose(parts, _NO_SIGNATURE, secret="0f" * 32, api_key="", host=b"desk.test")
        values.append((time.process_time() - started_s) * 1000)
    title = f"diagnosis of a signature over {name} and 2 KiB of target"
    return Figure(title, "ms", False, 1, 0.3, values)


def _in_server(plan: Plan, built: Data, body: bytes) -> list[Figure]:
    """The same with the secrets of 20 other keys, and what is no longer diagnosed."""
    diagnoses, bare = [], []
    for _ in range(plan.rounds):
        with Cores() as cores, processes.sealdesk(built.settings, cores) as server:
            costs_ms = _refuse(server, built.keys_of(built.big)[0], body)
        medians_ms = {kind: statistics.median(costs) for kind, costs in costs_ms.items()}
        diagnoses.append(medians_ms["diagnosed"] - medians_ms["recorded"])
        bare.append(medians_ms["bare"])
    return [
        Figure("such a diagnosis in the server", "ms", False, 1, 0.3, diagnoses),
        Figure("such a refusal after 300 of an address", "ms", False, None, None, bare),
    ]


def _refuse(server: Server, key: BenchKey, body: bytes) -> dict[str, list[float]]:
    """CPU time of refusals in ms by their kind.

    Those with a target that is one byte too long are recorded, but not diagnosed.
    """
    costs_ms: dict[str, list[float]] = {"diagnosed": [], "recorded": [], "bare": []}
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    for target in islice(cycle((_LONG_TARGET, _LONG_TARGET + b"b")), _MOST_REFUSALS):
        started_s = server.precise_cpu_s()
        connection.request("POST", target.decode(), body, _headers_of(key))
        response = connection.getresponse()
        problem = response.read()
        if response.status != 401:
            raise WrongResponse(f"status {response.status} instead of 401")
        is_recorded = "recorded" if b'"received"' in problem else "bare"
        kind = "diagnosed" if b'"diagnosis"' in problem else is_recorded
        costs_ms[kind].append((server.precise_cpu_s() - started_s) * 1000)
        if min(map(len, costs_ms.values())) >= _SAMPLES:
            connection.close()
            return costs_ms
    raise WrongResponse(f"{_MOST_REFUSALS} refusals of one address had a diagnosis")


def _headers_of(key: BenchKey) -> dict[str, str]:
    return {
        "x-api-key": key.api_key,
        "x-api-timestamp": str(int(time.time())),
        "x-api-signature": _NO_SIGNATURE.decode(),
        "content-type": "application/json",
    }
