"""A mutant: a small change of one source file, and the tests that must fail with it."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """file: from src/sealdesk. old, new: replaced text. tests: node ids; each test must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
