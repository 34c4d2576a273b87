"""The structs of the body that creates a reply."""

from typing import ClassVar

import msgspec

from sealdesk.tickets.types import AttachmentIds, AuthorType, ImportedAt, LongText


class NewReplyAuthor(msgspec.Struct, frozen=True):
    """The author of a new reply: the calling key, the ticket's customer, or an agent.

    type: a reply by the customer reopens a ticket that is pending, on hold or resolved; agent needs
    the permission import:write.
    id: of the agent; ignored for others.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"name"})

    type: AuthorType
    id: str | None = None


class ReplyBody(msgspec.Struct, frozen=True):
    """The body of a request that creates a reply, by a caller who may not import.

    author: the calling key by default.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset({"id", "ticket_id", "created_at", "attachments"})

    body: LongText
    is_internal: bool = False
    author: NewReplyAuthor | None = None
    attachment_ids: AttachmentIds | None = None


class NewReply(ReplyBody, frozen=True):
    """The body of a request that creates a reply.

    author: the calling key by default.
    created_at: in the past, not before the newest message of the ticket, with the permission
    import:write; otherwise ignored.
    """

    created_at: ImportedAt | None = None
