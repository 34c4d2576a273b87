"""Which hand-written mutants were found by an earlier run, in the directory of mutmut's results."""

import hashlib

from tests.mutants.mutant import Mutant
from tests.mutants.sandbox import ROOT

_FILE = ROOT / "mutants" / "hand_written"


def key(mutant: Mutant) -> str:
    """Another one when the mutant, its source, or a file of its tests has changed."""
    digest = hashlib.sha256(repr(mutant).encode())
    for path in sorted({test.partition("::")[0] for test in mutant.tests}):
        digest.update((ROOT / path).read_bytes())
    digest.update((ROOT / "src" / "sealdesk" / mutant.file).read_bytes())
    return digest.hexdigest()


def load() -> set[str]:
    """The keys of the mutants that were found."""
    return set(_FILE.read_text().split()) if _FILE.exists() else set()


def add(mutant: Mutant) -> None:
    """Store that it was found."""
    _FILE.parent.mkdir(exist_ok=True)
    with _FILE.open("a") as file:
        file.write(key(mutant) + "\n")
