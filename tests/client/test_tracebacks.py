"""Tracebacks with local variables, as rich and Sentry show them, hold no secret."""

from collections.abc import Callable, Iterator
from itertools import chain
from traceback import walk_tb
from typing import Any

import pytest

from sealdesk.client import AsyncDesk, Desk, SignatureAuth, verify_webhook
from sealdesk.crypto import webhook_signing
from tests import vectors

KEY, SECRET, URL = vectors.API_KEY, vectors.API_SECRET, "http://desk.example.test"
HOOK_SECRET = webhook_signing.mint_secret()
ENVIRONMENT = {"SEALDESK_API_KEY": KEY, "SEALDESK_API_SECRET": SECRET, "SEALDESK_API_URL": "desk"}
HOOK: Any = verify_webhook
MISTAKES: dict[str, Callable[[], object]] = {
    "an unusable URL": lambda: Desk(KEY, SECRET, "desk"),
    "an unusable URL, async": lambda: AsyncDesk(KEY, SECRET, "desk"),
    "a timeout below 0": lambda: Desk(KEY, SECRET, URL, timeout_s=-1),
    "a line break at the end": lambda: Desk(KEY, SECRET + "\n", URL),
    "swapped": lambda: Desk(SECRET, KEY, URL),
    "the environment": lambda: Desk.from_environment(ENVIRONMENT),
    "after a rotation": lambda: Desk(KEY, SECRET, URL).use_credentials(KEY[:16], SECRET),
    "an Auth of httpx": lambda: SignatureAuth(KEY[:16], SECRET),
    "a webhook with a wrong signature": lambda: verify_webhook(b"{}", {}, HOOK_SECRET),
    "a webhook as str": lambda: HOOK("{}", {}, [HOOK_SECRET]),
    "a webhook without headers": lambda: HOOK(b"{}", None, HOOK_SECRET),
}


def _locals(error: BaseException | None) -> Iterator[str]:
    """The variables in the frames of the client, also of the errors behind this one."""
    while error is not None:
        for frame, _ in walk_tb(error.__traceback__):
            if frame.f_globals["__name__"].startswith("sealdesk."):
                yield from map(repr, frame.f_locals.values())
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_the_traceback_of_a_mistake_shows_no_secret(mistake: Callable[[], object]) -> None:
    with pytest.raises(Exception) as raised:
        mistake()
    shown = "\n".join(chain([str(raised.value)], _locals(raised.value)))
    assert SECRET not in shown
    assert HOOK_SECRET not in shown
