"""Mutants of promises and automation: business hours, clocks, rules and sums of reports."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a time zone has one offset for the whole year",
        "tickets/hours/rules.py",
        "    at, other = wall.astimezone(UTC), wall.replace(fold=1).astimezone(UTC)\n",
        "    at = other = wall.replace(tzinfo=UTC) - _EPOCH.astimezone(zone).utcoffset()\n",
        (
            "tests/tickets/hours/test_deadlines.py"
            "::test_hours_are_those_of_the_wall_on_both_sides_of_a_change",
        ),
    ),
    Mutant(
        "the clock of a paused ticket runs on",
        "tickets/promises/rules.py",
        "        return clock if is_late else _stop(clock, hours, at)\n",
        "        return clock\n",
        (
            "tests/tickets/promises/test_clocks.py::test_random_histories_agree_with_a_plain_model",
            "tests/tickets/promises/test_promises.py"
            "::test_clocks_stand_still_while_a_ticket_is_pending",
        ),
    ),
    Mutant(
        "a rule runs on what another rule did",
        "automation/steps/queueing.py",
        "        if await _is_caused(tx, event, ticket_id, shown):\n            continue\n",
        "",
        (
            "tests/automation/test_model.py::test_random_histories_agree_with_a_plain_model",
            "tests/automation/test_running.py::test_rules_do_not_react_to_each_other",
        ),
    ),
    Mutant(
        "reports count a merged ticket beside the one it was merged into",
        "reports/steps/store.py",
        '    if row["merged_into_id"] is not None:\n        return before, None\n',
        "",
        (
            "tests/reports/test_counting.py"
            "::test_counting_events_and_counting_anew_give_a_plain_count",
        ),
    ),
    Mutant(
        "a breach is told again at each step",
        "tickets/promises/steps/actions.py",
        "            await store.store_alerted(tx, ticket, after)\n",
        "",
        ("tests/tickets/promises/test_promises.py::test_a_breach_is_told_once",),
    ),
)
