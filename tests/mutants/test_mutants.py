"""Tests find mutants: two are tried here, all of them by `make mutants`."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.mutants import found, score
from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.sandbox import ROOT, apply, copy_sources, run

# Those whose tests start no service.
QUICK = [mutant for mutant in MUTANTS if mutant.file == "crypto/signing.py"]


def named(mutant: Mutant) -> str:
    return mutant.name


def test_every_mutant_fits_the_sources() -> None:
    occurs = {each: _text(f"src/sealdesk/{each.file}").count(each.old) for each in MUTANTS}
    assert {each.name: count for each, count in occurs.items() if count != 1} == {}


def test_the_tests_of_every_mutant_exist() -> None:
    named = {(each.name, *test.partition("::")[::2]) for each in MUTANTS for test in each.tests}
    assert {test for test in named if f"def {test[2]}(" not in _text(test[1])} == set()


@cache
def _text(path: str) -> str:
    return (ROOT / path).read_text()


def test_names_are_distinct() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.prove
def test_without_a_mutant_the_tests_pass(tmp_path: Path) -> None:
    copy_sources(tmp_path)
    tests = {test for mutant in QUICK for test in mutant.tests if "test_signing" in test}
    outcome = run(tmp_path, sorted(tests))
    assert outcome.is_green, outcome.text


@pytest.mark.parametrize(
    "mutant", [pytest.param(QUICK[-2], marks=pytest.mark.prove), QUICK[-1]], ids=named
)
def test_a_mutant_is_found(tmp_path: Path, mutant: Mutant) -> None:
    copy_sources(tmp_path)
    apply(tmp_path, mutant)
    outcome = run(tmp_path, mutant.tests)
    assert outcome.is_red, outcome.text


def test_what_was_found_is_known_until_its_files_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = QUICK[0]
    monkeypatch.setattr(found, "_FILE", tmp_path / "mutants" / "hand_written")
    found.add(mutant)
    assert found.load() == {found.key(mutant)}
    assert found.key(mutant._replace(new="")) not in found.load()


def test_the_score_counts_tested_mutants_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score, "_SOURCES", tmp_path)
    results = {"killed": 1, "survived": 0, "timeout": 36, "no tests": 33, "not yet run": None}
    (tmp_path / "rules.py.meta").write_text(json.dumps({"exit_code_by_key": results}))
    assert score.table().splitlines()[-1] == "| all | 3 | 2 | 67% | 1 |"
