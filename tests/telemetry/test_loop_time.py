"""The routes that have held the event loop longest in the last hour."""

from sealdesk.telemetry.counters import ResponseCounter
from sealdesk.telemetry.loop_time import LoopTime, RouteTime


def test_the_dearest_routes_of_the_last_hour_are_named_and_earlier_work_is_not() -> None:
    counted, loop_time = ResponseCounter(), LoopTime()
    loop_time.note(counted.durations, 0.0)
    counted.count("GET /inbox", 200, 1.0, 5.0, 4.0)
    assert loop_time.dearest(counted.durations, 3) == [RouteTime("GET /inbox", 9.0)]
    for minute in range(1, 121):
        counted.count("GET /a", 200, 1.0, 0.25, 0.25)
        counted.count("GET /b", 200, 1.0, 0.25, 0.0)
        loop_time.note(counted.durations, minute * 60.0)
    (first, second) = loop_time.dearest(counted.durations, 2)
    assert (first.route, second.route) == ("GET /a", "GET /b")
    assert 29.5 <= first.seconds <= 33
    assert loop_time.dearest(counted.durations, 3) == [first, second]


def test_a_process_without_requests_names_none() -> None:
    assert LoopTime().dearest(ResponseCounter().durations, 3) == []
