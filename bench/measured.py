"""What runs have measured, part by part, so that a run that was stopped can go on."""

import hashlib
from pathlib import Path

import msgspec
from tests.support.code import hash_of

from bench.figures.figure import Results
from bench.plan import Plan

_VOLATILE = ("date", "flush", "load before")  # of a machine that is the same otherwise


class MeasuredPart(msgspec.Struct, frozen=True):
    """The results of a part. measured_on: hash of the code and the machine; took_s: its length."""

    measured_on: str
    took_s: float
    results: Results


class Measured:
    """The newest results of each part of a plan, in a file."""

    def __init__(self, directory: Path, plan: Plan, machine: dict[str, str]) -> None:
        self._path = directory / f"measured-{plan.name}.json"
        self._here = _hash_code_and(machine)
        self._parts: dict[str, MeasuredPart] = {}
        if self._path.exists():
            self._parts = msgspec.json.decode(self._path.read_bytes(), type=dict[str, MeasuredPart])

    def find(self, name: str) -> Results | None:
        """The results of a part that this code measured on this machine."""
        part = self._parts.get(name)
        return part.results if part is not None and part.measured_on == self._here else None

    def took_s(self, name: str) -> float | None:
        """How long a part took last time, whatever the code was."""
        part = self._parts.get(name)
        return part.took_s if part is not None else None

    def keep(self, name: str, results: Results, took_s: float) -> None:
        """Store the results of a part at once; the next run measures again what has no values."""
        self._parts[name] = MeasuredPart(self._here, took_s, results)
        complete = {name: part for name, part in self._parts.items() if _is_complete(part)}
        written = self._path.with_suffix(".new")
        written.write_bytes(msgspec.json.encode(complete))
        written.replace(self._path)


def _is_complete(part: MeasuredPart) -> bool:
    return all(figure.values for figure in part.results.figures)


def _hash_code_and(machine: dict[str, str]) -> str:
    lasting = {name: text for name, text in machine.items() if name not in _VOLATILE}
    text = msgspec.json.encode([hash_of("src", "bench"), lasting])
    return hashlib.sha256(text).hexdigest()
