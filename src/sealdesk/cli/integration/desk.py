"""The desk that commands of integrators call."""

import logging
from typing import Any

from sealdesk.client import Desk, RetryPolicy

# Two retries take about a second: a person waits for the command.
_POLICY = RetryPolicy(retries=2)


def open_desk(**options: Any) -> Desk:
    """Return the desk of the environment. options: of Desk. Raises InvalidConfiguration."""
    _print_warnings()
    return Desk.from_environment(**{"retry": _POLICY, **options})


def _print_warnings() -> None:
    """Print what the client notices, such as a wrong clock, on stderr."""
    log = logging.getLogger("sealdesk.client")
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("sealdesk: %(message)s"))
        log.addHandler(handler)
        log.propagate = False
