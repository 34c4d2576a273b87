"""The tests that `make test` leaves out on PostgreSQL, and how they are chosen."""

import re
from functools import cache
from pathlib import Path

from tests.postgres_sample import read_left_out
from tests.postgres_sample.__main__ import choose_left_out

ROOT = Path(__file__).parents[2]


def test_every_test_that_is_left_out_is_there() -> None:
    gone = []
    for test in read_left_out():
        file, _, name = test.partition("::")
        is_there = (ROOT / file).exists() and name in _words(ROOT / file)
        gone += [] if is_there else [test]
    assert gone == []


@cache
def _words(file: Path) -> set[str]:
    return {*re.findall(r"\w+", file.read_text())}


def test_those_that_stay_send_every_statement_in_little_time() -> None:
    sent = {"slow": {"a", "b"}, "quick": {"a"}, "other": {"b", "c"}, "same": {"c"}, "racing": {"d"}}
    took_s = {"slow": 9.0, "quick": 0.1, "other": 0.2, "same": 0.3}
    assert choose_left_out(sent, took_s) == {"slow", "same"}
