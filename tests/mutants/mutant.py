"""A mutant: a small change of one source file, and the tests that must fail with it."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One fault. file: below src/sealdesk. tests: node ids, each of which must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
