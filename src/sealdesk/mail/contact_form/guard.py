"""The guard of pages for customers, who have no session; and how often a client may ask."""

import asyncio
from typing import Literal

from sealdesk.errors import ProblemType
from sealdesk.rate_limits.limiter import Budget, retry_after_s
from sealdesk.web.client_address import networks_of
from sealdesk.web.pages import forms
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.proof import NOTHING_PROVEN, Proof
from sealdesk.web.request import Request, Response

_PAGES_PER_MINUTE = 120  # of one network
_FORMS_PER_MINUTE = 10
_REFUSAL_DELAY_S = 0.5  # a client that does not wait for Retry-After gets few answers
_TEXT = b"text/plain; charset=utf-8"


class PublicGuard:
    """Everybody, without a session; the handler reads the body, after it has counted the client.

    takes_files: whether the body may be multipart/form-data.
    """

    scheme: Literal["session"] = "session"
    needs: tuple[str, ...] = ()
    fails: tuple[ProblemType, ...] = ()
    write_fails: tuple[ProblemType, ...] = ()

    def __init__(self, *, takes_files: bool = False) -> None:
        self._takes_files = takes_files

    async def prove(self, request: Request) -> Proof:
        """Raises Forbidden for a form of another site, UnsupportedMediaType for another type."""
        if request.method == "POST" and self._takes_files and _has_parts(request):
            forms.check_site(request)
        elif request.method == "POST":
            forms.check_sender(request)
        return NOTHING_PROVEN


def _has_parts(request: Request) -> bool:
    declared = request.headers.get(b"content-type", b"").lower()
    return declared.startswith(b"multipart/form-data;") and b"boundary=" in declared


async def refuse(request: Request) -> Response | None:
    """The response to a client that asks too often, None for others.

    It is plain text, because a page takes ten times as long to render as this takes.
    """
    network = networks_of(request.address)[-1]
    is_form = request.method == "POST"
    kind, limit = ("forms", _FORMS_PER_MINUTE) if is_form else ("pages", _PAGES_PER_MINUTE)
    return await refuse_over(request, Budget(f"public {kind}:{network}", limit))


async def refuse_over(request: Request, budget: Budget) -> Response | None:
    """The response when this budget is used up."""
    state = await request.state.limits.limiter.take(budget)
    if state.accepted:
        return None
    if not request.state.lifetime.is_draining:
        await asyncio.sleep(_REFUSAL_DELAY_S)
    text = gettext("This was sent too often. Wait a minute, then try again.")
    headers = [(b"retry-after", b"%d" % retry_after_s(state))]
    return Response(429, f"{text}\n".encode(), headers, _TEXT)
