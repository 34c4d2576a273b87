"""That planted faults are seen: a few here, all of them with `make prove`."""

from pathlib import Path

import pytest

from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.sandbox import ROOT, lay_out, plant, run

# Those whose tests start no service.
QUICK = [fault for fault in MUTANTS if fault.file == "crypto/signing.py"]


def named(fault: Mutant) -> str:
    return fault.name


@pytest.mark.parametrize("fault", MUTANTS, ids=named)
def test_a_fault_fits_the_sources_and_its_tests_exist(fault: Mutant) -> None:
    source = (ROOT / "src" / "sealdesk" / fault.file).read_text()
    assert source.count(fault.old) == 1
    for test in fault.tests:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text()


def test_names_are_distinct() -> None:
    assert len({fault.name for fault in MUTANTS}) == len(MUTANTS)


def test_without_a_fault_the_tests_are_green(tmp_path: Path) -> None:
    lay_out(tmp_path)
    tests = {test for fault in QUICK for test in fault.tests if "test_signing" in test}
    outcome = run(tmp_path, sorted(tests))
    assert outcome.is_green, outcome.text


@pytest.mark.parametrize("fault", QUICK[-2:], ids=named)
def test_a_planted_fault_is_seen(tmp_path: Path, fault: Mutant) -> None:
    lay_out(tmp_path)
    plant(tmp_path, fault)
    outcome = run(tmp_path, fault.tests)
    assert outcome.is_red, outcome.text
