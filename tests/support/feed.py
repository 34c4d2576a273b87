"""What tests of the feed begin with."""

from tests.support.service import Service, wait_until

_WAITING = "SELECT 1 FROM events WHERE position IS NULL LIMIT 1"


def wait_until_placed(service: Service) -> None:
    """Wait until all that has happened has its position."""
    wait_until(lambda: not service.rows(_WAITING))
