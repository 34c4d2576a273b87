"""What goes in and out as JSON."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, EmailStr, Field

Status = Literal["open", "pending", "on_hold", "resolved", "closed"]
Priority = Literal["low", "medium", "high", "urgent"]


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
