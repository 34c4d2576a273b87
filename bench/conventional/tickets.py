"""Tickets: listed by keyset, created with their customer and an event."""

import base64
import binascii
import json
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException, Query, Response, status
from sqlalchemy import select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import joinedload

from bench.conventional.database import Session
from bench.conventional.models import ApiKey, Customer, OutboxEvent, Ticket
from bench.conventional.schemas import (
    CustomerIn,
    Priority,
    Status,
    TicketCreated,
    TicketIn,
    TicketOut,
    TicketPage,
)
from bench.conventional.security import require

router = APIRouter(prefix="/api/v1/external/tickets", tags=["Tickets"])


@router.get("", response_model=TicketPage)
async def list_tickets(
    session: Session,
    key: Annotated[ApiKey, Depends(require("tickets:read"))],
    *,
    wanted: Annotated[Status | None, Query(alias="status")] = None,
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
    if wanted is not None:
        query = query.where(Ticket.status == wanted)
    if priority is not None:
        query = query.where(Ticket.priority == priority)
    if cursor is not None:
        query = query.where(tuple_(Ticket.created_at, Ticket.id) < tuple_(*_decoded(cursor)))
    found = (await session.scalars(query)).all()
    shown, has_more = found[:per_page], len(found) > per_page
    next_cursor = _encoded(shown[-1]) if has_more else None
    meta = {"per_page": per_page, "has_more": has_more, "next_cursor": next_cursor}
    return {"data": shown, "meta": meta}


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


async def _find_or_create(session: AsyncSession, tenant_id: UUID, who: CustomerIn) -> Customer:
    found = select(Customer).where(Customer.tenant_id == tenant_id, Customer.email == who.email)
    customer = await session.scalar(found)
    if customer is not None:
        return customer
    # Of two requests at once, the second waits here and then finds what the first has made.
    made = await session.scalar(
        insert(Customer)
        .values(tenant_id=tenant_id, email=who.email, name=who.name)
        .on_conflict_do_nothing()
        .returning(Customer)
    )
    return made or (await session.scalars(found)).one()


def _encoded(ticket: Ticket) -> str:
    position = json.dumps([ticket.created_at.isoformat(), str(ticket.id)])
    return base64.urlsafe_b64encode(position.encode()).decode()


def _decoded(cursor: str) -> tuple[datetime, UUID]:
    try:
        created_at, ticket_id = json.loads(base64.urlsafe_b64decode(cursor))
        return datetime.fromisoformat(created_at), UUID(ticket_id)
    except (ValueError, TypeError, binascii.Error) as error:
        raise HTTPException(status.HTTP_400_BAD_REQUEST, "invalid_cursor") from error
