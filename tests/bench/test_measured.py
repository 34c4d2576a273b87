"""A run of the benchmark goes on with the parts that an earlier one had not completed."""

from pathlib import Path

from bench.figures.figure import Figure, Results
from bench.load.rounds import Round
from bench.measured import Measured
from bench.plan import TINY

_MACHINE = {"CPU": "some processor", "date": "2026-11-29", "load before": "0.1"}
_RESULTS = Results([Figure("lists", "", True, 4, 8, [5.0])], {"GET": [Round(2_000, cpu_us=300)]})


def test_a_later_run_finds_what_an_earlier_one_measured(tmp_path: Path) -> None:
    Measured(tmp_path, TINY, _MACHINE).keep("pages", _RESULTS, 90)
    later = Measured(tmp_path, TINY, _MACHINE | {"date": "2026-11-30", "load before": "0.4"})
    assert later.find("pages") == _RESULTS
    assert later.took_s("pages") == 90
    assert later.find("events") is None


def test_figures_of_another_machine_are_measured_again(tmp_path: Path) -> None:
    Measured(tmp_path, TINY, _MACHINE).keep("pages", _RESULTS, 90)
    elsewhere = Measured(tmp_path, TINY, _MACHINE | {"CPU": "another processor"})
    assert elsewhere.find("pages") is None
    assert elsewhere.took_s("pages") == 90


def test_a_part_without_values_is_measured_again(tmp_path: Path) -> None:
    without = Results([Figure("lists", "", True, 4, 8, [], reason="PostgreSQL is missing")], {})
    run = Measured(tmp_path, TINY, _MACHINE)
    run.keep("pages", without, 1)
    assert run.find("pages") == without
    assert Measured(tmp_path, TINY, _MACHINE).find("pages") is None
