"""The conventional service: `uvicorn bench.peers.conventional.service:app`."""

import base64
import binascii
import hashlib
import hmac
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import (
    APIRouter,
    Depends,
    FastAPI,
    Header,
    HTTPException,
    Query,
    Request,
    Response,
    status,
)
from pydantic import BaseModel, ConfigDict, EmailStr, Field
from sqlalchemy import select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import joinedload

from bench.peers.conventional.tables import ApiKey, Customer, OutboxEvent, Ticket

# Sealdesk opens the same number of connections by default.
engine = create_async_engine(os.environ["DATABASE_URL"], pool_size=10, max_overflow=0)
make_session = async_sessionmaker(engine, expire_on_commit=False)
_MAX_SKEW_S = 300
Status = Literal["open", "pending", "on_hold", "resolved", "closed"]
Priority = Literal["low", "medium", "high", "urgent"]
router = APIRouter(prefix="/api/v1/external/tickets", tags=["Tickets"])


async def get_session() -> AsyncIterator[AsyncSession]:
    async with make_session() as session:
        yield session


Session = Annotated[AsyncSession, Depends(get_session)]


async def get_api_key(
    request: Request,
    session: Session,
    x_api_key: Annotated[str, Header()] = "",
    x_api_timestamp: Annotated[str, Header()] = "",
    x_api_signature: Annotated[str, Header()] = "",
) -> ApiKey:
    """The key whose secret signed this request."""
    if not x_api_timestamp.isdigit() or abs(time.time() - int(x_api_timestamp)) > _MAX_SKEW_S:
        raise _unauthorized("timestamp_out_of_range")
    key_hash = hashlib.sha256(x_api_key.encode()).digest()
    key = await session.scalar(select(ApiKey).where(ApiKey.key_hash == key_hash))
    if key is None or key.revoked_at is not None:
        raise _unauthorized("invalid_api_key")
    if key.expires_at is not None and key.expires_at <= datetime.now(UTC):
        raise _unauthorized("api_key_expired")
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    body_hash = hashlib.sha256(await request.body()).hexdigest()
    message = f"{x_api_timestamp}{request.method}{target}{body_hash}"
    expected = hmac.new(key.secret.encode(), message.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, x_api_signature):
        raise _unauthorized("invalid_signature")
    return key


def require(permission: str) -> Callable[[ApiKey], Awaitable[ApiKey]]:
    """A dependency that requires a signed request whose key has this permission."""

    async def check(key: Annotated[ApiKey, Depends(get_api_key)]) -> ApiKey:
        if permission not in key.permissions:
            raise HTTPException(status.HTTP_403_FORBIDDEN, "insufficient_permissions")
        return key

    return check


def _unauthorized(code: str) -> HTTPException:
    return HTTPException(status.HTTP_401_UNAUTHORIZED, code)


class CustomerIn(BaseModel):
    email: EmailStr
    name: str | None = Field(None, max_length=255)


class TicketIn(BaseModel):
    subject: str = Field(min_length=1, max_length=255)
    description: str = Field(min_length=1, max_length=65536)
    customer: CustomerIn
    priority: Priority = "medium"
    status: Status = "open"
    assignee_id: UUID | None = None
    tags: list[str] = Field([], max_length=50)
    custom_fields: dict[str, Any] = {}
    external_id: str | None = Field(None, max_length=255)


class CustomerOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    email: str
    name: str | None


class TicketOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    number: int
    subject: str
    description: str
    status: Status
    priority: Priority
    source: str
    assignee_id: UUID | None
    tags: list[str]
    custom_fields: dict[str, Any]
    external_id: str | None
    reply_count: int
    created_at: datetime
    updated_at: datetime
    first_response_at: datetime | None
    resolved_at: datetime | None
    closed_at: datetime | None
    version: int
    customer: CustomerOut


class PageMeta(BaseModel):
    per_page: int
    has_more: bool
    next_cursor: str | None


class TicketPage(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    data: list[TicketOut]
    meta: PageMeta


class TicketCreated(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    data: TicketOut


@router.get("", response_model=TicketPage)
async def list_tickets(
    session: Session,
    key: Annotated[ApiKey, Depends(require("tickets:read"))],
    *,
    ticket_status: Annotated[Status | None, Query(alias="status")] = None,
    priority: Priority | None = None,
    per_page: Annotated[int, Query(ge=1, le=100)] = 25,
    cursor: str | None = None,
) -> Any:
    query = (
        select(Ticket)
        .where(Ticket.tenant_id == key.tenant_id)
        .options(joinedload(Ticket.customer, innerjoin=True))
        .order_by(Ticket.created_at.desc(), Ticket.id.desc())
        .limit(per_page + 1)
    )
    if ticket_status is not None:
        query = query.where(Ticket.status == ticket_status)
    if priority is not None:
        query = query.where(Ticket.priority == priority)
    if cursor is not None:
        query = query.where(tuple_(Ticket.created_at, Ticket.id) < tuple_(*_decode_cursor(cursor)))
    rows = (await session.scalars(query)).all()
    page, has_more = rows[:per_page], len(rows) > per_page
    next_cursor = _encode_cursor(page[-1]) if has_more else None
    meta = {"per_page": per_page, "has_more": has_more, "next_cursor": next_cursor}
    return {"data": page, "meta": meta}


@router.post("", response_model=TicketCreated, status_code=status.HTTP_201_CREATED)
async def create_ticket(
    new: TicketIn,
    session: Session,
    key: Annotated[ApiKey, Depends(require("tickets:write"))],
    response: Response,
) -> Any:
    customer = await _find_or_create(session, key.tenant_id, new.customer)
    fields = new.model_dump(exclude={"customer"})
    ticket = Ticket(tenant_id=key.tenant_id, customer=customer, **fields)
    session.add(ticket)
    await session.flush()
    payload = TicketOut.model_validate(ticket).model_dump(mode="json")
    session.add(OutboxEvent(tenant_id=key.tenant_id, type="ticket.created", payload=payload))
    await session.commit()
    response.headers["Location"] = f"{router.prefix}/{ticket.id}"
    return {"data": ticket}


async def _find_or_create(session: AsyncSession, tenant_id: UUID, new: CustomerIn) -> Customer:
    query = select(Customer).where(Customer.tenant_id == tenant_id, Customer.email == new.email)
    customer = await session.scalar(query)
    if customer is not None:
        return customer
    # The second of two concurrent requests waits here, and then finds the row of the first.
    created = await session.scalar(
        insert(Customer)
        .values(tenant_id=tenant_id, email=new.email, name=new.name)
        .on_conflict_do_nothing()
        .returning(Customer)
    )
    return created or (await session.scalars(query)).one()


def _encode_cursor(ticket: Ticket) -> str:
    position = json.dumps([ticket.created_at.isoformat(), str(ticket.id)])
    return base64.urlsafe_b64encode(position.encode()).decode()


def _decode_cursor(cursor: str) -> tuple[datetime, UUID]:
    try:
        created_at, ticket_id = json.loads(base64.urlsafe_b64decode(cursor))
        return datetime.fromisoformat(created_at), UUID(ticket_id)
    except (ValueError, TypeError, binascii.Error) as error:
        raise HTTPException(status.HTTP_400_BAD_REQUEST, "invalid_cursor") from error


app = FastAPI(title="Tickets")
app.include_router(router)
