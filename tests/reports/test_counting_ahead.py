"""In which transactions the tickets of many events are counted."""

from sealdesk.event_log.consumers import LogEvent
from sealdesk.reports.steps.counting import in_steps


def test_the_tickets_of_many_events_are_counted_desk_by_desk() -> None:
    of_desks = [
        LogEvent(number, f"desk {number % 2}", number, "", each, 0)
        for number, each in enumerate(["ticket.created", "reply.created", "customer.created"] * 150)
    ]
    steps = [*in_steps(of_desks)]
    assert [len(each) for each in steps] == [150, 150]
    assert [{event.tenant_id for event in each} for each in steps] == [{"desk 0"}, {"desk 1"}]
    assert {event.type for each in steps for event in each} == {"ticket.created", "reply.created"}
