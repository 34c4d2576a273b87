"""The guard of the management API: a bearer token and a role."""

from typing import Literal

from sealdesk import ids
from sealdesk.caller import Actor, Caller, without_rights
from sealdesk.db.engine import Tx
from sealdesk.errors import Forbidden, NotFound, ProblemType
from sealdesk.errors.general import (
    NOT_FOUND,
    STORAGE_UNAVAILABLE,
    TENANT_RATE_LIMIT_EXCEEDED,
    TOO_MANY_BYTES,
)
from sealdesk.errors.requests import BODY_TOO_LARGE, INVALID_HEADER, UNSUPPORTED_MEDIA_TYPE
from sealdesk.identity import store
from sealdesk.identity.auth import login, tokens
from sealdesk.identity.errors import (
    FOREIGN_TENANT,
    INSUFFICIENT_ROLE,
    INVALID_TOKEN,
    JWT_REQUIRED,
    NO_TENANT_OF_HEADER,
    TOKEN_EXPIRED,
)
from sealdesk.identity.types import ADMINISTRATORS, ROLES, User
from sealdesk.records import audit
from sealdesk.web.proof import Proof
from sealdesk.web.request import Request

_FAILS = (
    INVALID_HEADER,
    JWT_REQUIRED,
    INVALID_TOKEN,
    TOKEN_EXPIRED,
    INSUFFICIENT_ROLE,
    TENANT_RATE_LIMIT_EXCEEDED,
    BODY_TOO_LARGE,
    UNSUPPORTED_MEDIA_TYPE,
    STORAGE_UNAVAILABLE,
    TOO_MANY_BYTES,
)


class BearerGuard:
    """A valid access token, and one of the roles in `needs`.

    Signature headers and cookies are ignored.
    """

    scheme: Literal["jwt"] = "jwt"
    write_fails: tuple[ProblemType, ...] = ()

    def __init__(self, needs: tuple[str, ...], *, own_account: bool) -> None:
        self.needs = needs
        # A super admin may name a tenant that does not exist.
        self.fails = _FAILS if own_account else (*_FAILS, NOT_FOUND)
        self._own_account = own_account

    async def prove(self, request: Request) -> Proof:
        """Raises Unauthorized, Forbidden, NotFound, ContentTooLarge, UnsupportedMediaType."""
        token = tokens.read(request)
        user = await login.get_user(request, token)
        if user.role not in self.needs:
            raise Forbidden(INSUFFICIENT_ROLE, needs=" or ".join(self.needs), role=user.role)
        tenant_id = await self._get_tenant_id(request, user)
        if await request.read_body():
            # The user may have been deactivated while the body arrived.
            await login.get_user(request, token)
        request.check_content_type()
        actor = Actor("user", user.id, user.name)
        return Proof(caller=Caller(tenant_id, actor, frozenset((user.role,)), request.address))

    async def _get_tenant_id(self, request: Request, user: User) -> str:
        """The tenant of the request; access to a foreign tenant is recorded in its audit log."""
        sent = request.header(b"x-tenant-id")
        wanted = user.tenant_id if sent is None else ids.in_lower_case(sent)
        if wanted == user.tenant_id:
            return user.tenant_id
        if user.role != "super_admin":
            raise Forbidden(FOREIGN_TENANT)
        if self._own_account:
            return user.tenant_id
        if not ids.is_canonical(wanted):
            raise NotFound(NO_TENANT_OF_HEADER)
        await request.state.database.write(
            lambda tx: _record_visit(tx, request, user, wanted), wanted
        )
        return wanted


def administrator() -> BearerGuard:
    """A guard for the roles that manage keys, webhooks and people."""
    return BearerGuard(ADMINISTRATORS, own_account=False)


def logged_in() -> BearerGuard:
    """A guard for operations of users on their own account."""
    return BearerGuard(ROLES, own_account=True)


async def _record_visit(tx: Tx, request: Request, user: User, tenant_id: str) -> None:
    if await store.find_tenant(tx, tenant_id) is None:
        raise NotFound(NO_TENANT_OF_HEADER)
    caller = without_rights(tenant_id, Actor("user", user.id, user.name), request.address)
    details = {"method": request.method, "path": request.path}
    await audit.record(tx, caller, "super_admin.acted", None, details, request.now_us)
