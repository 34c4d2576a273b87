"""A run of the long tests goes on where one was stopped."""

from pathlib import Path

import pytest

from tests.prove.passed import Passed
from tests.support.code import hash_of


def test_the_next_run_leaves_out_what_this_code_has_passed(tmp_path: Path) -> None:
    first = Passed(tmp_path)
    first.begin()
    first.add("tests/a.py::test_one[sqlite-two words]", 1.5)
    assert first.tests() == set()  # the same for all processes of a run
    second = Passed(tmp_path)
    second.begin()
    assert second.tests() == {"tests/a.py::test_one[sqlite-two words]"}
    second.forget()
    assert second.tests() == set()
    assert second.seconds_of_others() == {"tests/a.py::test_one[sqlite-two words]": 1.5}


def test_other_code_runs_all_tests_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Passed(tmp_path)
    first.begin()
    first.add("tests/a.py::test_one", 2)
    monkeypatch.setattr("tests.prove.passed.hash_of", lambda *_: "other")
    changed = Passed(tmp_path)
    changed.begin()
    assert changed.tests() == set()
    assert changed.seconds_of_others() == {"tests/a.py::test_one": 2}


def test_templates_are_code_too() -> None:
    assert hash_of("src/sealdesk/tickets/templates") != hash_of("src/sealdesk/web/static")
