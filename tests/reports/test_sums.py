"""Rows of sums: lists and members are the same numbers, whatever the order of changes."""

import json
from collections import Counter
from random import Random

from sealdesk.reports import sums
from sealdesk.reports.rules import KINDS_OF_DURATIONS, NUMBERS
from tests.support.for_each import for_each


def random_difference(random: Random, plain: Counter[str]) -> Counter[str]:
    """Numbers that are added, and some that are taken out again."""
    found: Counter[str] = Counter(created=random.randrange(3), s5=random.randrange(2))
    for _ in range(random.randrange(40)):
        kind = random.choice(KINDS_OF_DURATIONS)
        found[f"{kind}{min(NUMBERS - 1, int(random.lognormvariate(4, 0.5)))}"] += 1
    gone = random.sample([*plain.elements()], min(plain.total(), random.randrange(40)))
    found.subtract(gone)
    return found


@for_each("seed", range(20))
def test_a_row_has_what_was_added_and_not_taken_out(seed: int) -> None:
    random, plain, row = Random(seed), Counter[str](), ""
    for _ in range(60):
        difference = random_difference(random, plain)
        plain.update(difference)
        row = sums.changed(row, difference)
        assert sums.read(row) == +plain if row else not +plain
    assert any(isinstance(each, str) for each in json.loads(row).values())
    emptied = sums.changed(row, Counter({key: -count for key, count in plain.items()}))
    assert emptied == ""


def test_a_row_from_which_too_much_was_taken_out_is_right_once_it_is_added() -> None:
    listed = Counter({f"a{number}": 1 for number in range(20)})
    row = sums.changed(sums.changed("", listed), {"a5": -3})
    assert sums.read(row) == {**listed, "a5": -2}
    assert sums.total_of([row]).durations["a"][5] == -2
    assert sums.read(sums.changed(row, {"a5": 3})) == listed


def test_totals_are_those_of_all_rows_however_they_are_stored() -> None:
    random, plain, rows = Random(32), Counter[str](), []
    for count in (1, 5, 200, 900):
        of_row = Counter(
            f"{random.choice(KINDS_OF_DURATIONS)}{random.randrange(count % 433, 433)}"
            for _ in range(count)
        )
        of_row["created"] = count
        plain.update(of_row)
        rows += [sums.changed("", of_row), json.dumps({"a7": 2, "kept": 1})]
        plain.update({"a7": 2, "kept": 1})
    assert sums.created_in(rows) == plain["created"]
    for total in (sums.total_of(rows), sums.together([sums.total_of([row]) for row in rows])):
        found = Counter(total.counts)
        for kind, counts in total.durations.items():
            assert len(counts) == NUMBERS
            found.update({f"{kind}{number}": each for number, each in enumerate(counts)})
        assert +found == plain
