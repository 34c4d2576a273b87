"""The mutants by subject: faults that must never pass the tests unnoticed.

Each `old` occurs once in its file. The changes are plausible mistakes: the service still starts and
responds.
"""

from tests.mutants.catalogue import (
    durability,
    keys,
    limits,
    log_ins,
    once,
    promises,
    secrets,
    tenants,
)
from tests.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *tenants.MUTANTS,
    *keys.MUTANTS,
    *log_ins.MUTANTS,
    *secrets.MUTANTS,
    *durability.MUTANTS,
    *once.MUTANTS,
    *limits.MUTANTS,
    *promises.MUTANTS,
)
