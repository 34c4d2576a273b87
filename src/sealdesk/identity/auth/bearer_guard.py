"""Proving a log-in: a bearer token, and the role that the row asks for."""

from typing import Literal

from sealdesk import ids
from sealdesk.caller import Actor, Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Forbidden, NotFound
from sealdesk.identity import rules, store
from sealdesk.identity.auth import login, tokens
from sealdesk.identity.rules import User
from sealdesk.records import audit
from sealdesk.records.audit import AuditEntry
from sealdesk.web.request import Request

_FAILS = (
    "invalid_header",
    "jwt_required",
    "invalid_token",
    "token_expired",
    "insufficient_role",
    "body_too_large",
    "unsupported_media_type",
    "storage_unavailable",
)


class LogInGuard:
    """The guard of what people do: a valid token, and one of the roles in `needs`.

    HMAC headers mean nothing here, and neither do cookies.
    """

    scheme: Literal["jwt"] = "jwt"

    def __init__(self, needs: tuple[str, ...], *, own_account: bool) -> None:
        self.needs = needs
        # Whoever acts in another tenant may have named one that does not exist.
        self.fails = _FAILS if own_account else (*_FAILS, "not_found")
        self._own_account = own_account

    async def prove(self, request: Request) -> None:
        """Set the caller. Raises Unproven, Forbidden, TooLarge, WrongType."""
        token = tokens.read(request)
        user = await login.get_user(request, token)
        if user.role not in self.needs:
            raise _wrong_role(
                f"This needs the role {' or '.join(self.needs)}; yours is {user.role}."
            )
        tenant_id = await self._tenant_of(request, user)
        await request.read_body()
        if request.body_waited:
            await login.get_user(request, token)
        request.check_content_type()
        actor = Actor("user", user.id, user.name)
        request.caller = Caller(tenant_id, actor, frozenset((user.role,)), request.address)

    async def _tenant_of(self, request: Request, user: User) -> str:
        """The tenant to act in; acting in another than one's own is audited there."""
        wanted = request.header(b"x-tenant-id")
        if wanted is None or wanted == user.tenant_id:
            return user.tenant_id
        if user.role != "super_admin":
            raise _wrong_role("x-tenant-id may only name your own tenant.")
        if self._own_account:
            return user.tenant_id
        if not ids.is_canonical(wanted):
            raise _no_such_tenant()
        await request.state.database.write(
            lambda tx: _note_visit(tx, request, user, wanted), wanted
        )
        return wanted


def administrator() -> LogInGuard:
    """A guard for the roles that manage keys, webhooks and people."""
    return LogInGuard(rules.ADMINISTRATORS, own_account=False)


def logged_in() -> LogInGuard:
    """A guard for what every user may do with their own account."""
    return LogInGuard(rules.ROLES, own_account=True)


async def _note_visit(tx: Tx, request: Request, user: User, tenant_id: str) -> None:
    if await store.find_tenant(tx, tenant_id) is None:
        raise _no_such_tenant()
    actor = Actor("user", user.id, user.name)
    details = {"method": request.method, "path": request.path}
    deed = AuditEntry("super_admin.acted", actor, request.address, None, details)
    await audit.record(tx, tenant_id, deed, request.now_us)


def _no_such_tenant() -> NotFound:
    return NotFound("There is no such tenant; see x-tenant-id.")


def _wrong_role(detail: str) -> Forbidden:
    return Forbidden("insufficient_role", detail)
