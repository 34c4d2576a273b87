"""What a guard has proven about a request."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError
from sealdesk.rate_limits.limiter import Budget
from sealdesk.telemetry.counters import KeyUse


class Visitor(msgspec.Struct, frozen=True):
    """The user who is logged in, as far as a page shows them.

    desk: the name of their tenant, "" in the response to a log-in.
    form_token: what every form of this session must carry.
    has_recent_login: otherwise some forms ask for the password again.
    password_error: what is wrong with the password that such a form has sent.
    """

    name: str
    email: str
    desk: str
    is_administrator: bool
    is_super_admin: bool
    form_token: str
    has_recent_login: bool
    password_error: str = ""


class BodyDigest(msgspec.Struct, frozen=True):
    """What a signature covers of a body that was streamed. sha256: in lower-case hex."""

    sha256: str
    size: int


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a guard: who calls, and what the request and its response need of the guard.

    caller: None on routes without authentication.
    refusal: why the request is refused; the rest of the proof still shapes the response.
    pending_refusal: why the request may not write, though its caller is authenticated.
    in_transaction: runs first in every write transaction of the request.
    prove_again: given the request while it waits, a new proof; raises what it is then refused with.
    A proof holds no request: together they would wait for the garbage collector.
    prove_body: a new proof once a streamed body has arrived; raises why it is refused.
    response_headers: added to every response.
    key_use: the API key whose use is counted. key_budget: what the key may use.
    visitor: the user who is logged in, on pages.
    """

    caller: Caller | None = None
    refusal: ApiError | None = None
    pending_refusal: ApiError | None = None
    in_transaction: Callable[[Tx], Awaitable[None]] | None = None
    prove_again: Callable[[Any], Awaitable["Proof"]] | None = None
    prove_body: Callable[[BodyDigest], Awaitable["Proof"]] | None = None
    response_headers: tuple[tuple[bytes, bytes], ...] = ()
    key_use: KeyUse | None = None
    key_budget: Budget | None = None
    visitor: Visitor | None = None


NOTHING_PROVEN = Proof()
