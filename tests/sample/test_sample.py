"""The tests that `make test` leaves out, and how they are chosen."""

import re
from functools import cache
from pathlib import Path

from tests.sample import lets_things_happen_at_once, read_all
from tests.sample.__main__ import choose_left_out

ROOT = Path(__file__).parents[2]


def test_every_test_that_is_left_out_is_there_and_does_one_thing_at_a_time() -> None:
    wrong = []
    for test in read_all():
        file, _, name = test.partition("::")
        text = _read(ROOT / file)
        own = re.search(rf"^def {name}\(.*?(?=^[@\w])", text + "\nend", re.M | re.S)
        if name not in text or (own and lets_things_happen_at_once(own[0])):
            wrong.append(test)
    assert wrong == []


@cache
def _read(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def test_those_that_stay_show_everything_in_little_time() -> None:
    shown = {
        "slow": {"a", "b"},
        "quick": {"a"},
        "other": {"b", "c"},
        "same": {"c"},
        "racing": {"d"},
    }
    took_s = {"slow": 9.0, "quick": 0.1, "other": 0.2, "same": 0.3}
    assert choose_left_out(shown, took_s) == {"slow", "same"}
