"""An exception for each error code of the external API; `sealdesk.client.errors` has their bases.

A code that this version of the client does not know raises the class of its status.
"""

from sealdesk.client.errors import (
    AuthenticationFailed,
    BadRequest,
    Conflict,
    ContentTooLarge,
    Gone,
    PermissionDenied,
    PreconditionFailed,
    RateLimited,
    ServerFailed,
    ServiceUnavailable,
    Unprocessable,
    UnsupportedMediaType,
)


class EmptyAttachment(BadRequest, code="empty_attachment"):
    """The attachment is empty."""


class InvalidCursor(BadRequest, code="invalid_cursor"):
    """The cursor does not belong to this query."""


class InvalidHeader(BadRequest, code="invalid_header"):
    """A header has a value that it cannot take."""


class InvalidParameter(BadRequest, code="invalid_parameter"):
    """A query parameter has a value that it cannot take."""


class MalformedJson(BadRequest, code="malformed_json"):
    """The body is not JSON that can be read."""


class MalformedRequest(BadRequest, code="malformed_request"):
    """The request is not HTTP that can be read."""


class UnknownParameter(BadRequest, code="unknown_parameter"):
    """A query parameter does not exist."""


class ApiKeyExpired(AuthenticationFailed, code="api_key_expired"):
    """The API key has expired."""


class ApiKeyRevoked(AuthenticationFailed, code="api_key_revoked"):
    """The API key has been revoked."""


class ApiKeyUnconfirmed(AuthenticationFailed, code="api_key_unconfirmed"):
    """The API key waits for confirmation after a restore."""


class InvalidApiKey(AuthenticationFailed, code="invalid_api_key"):
    """The API key is not known."""


class InvalidSignature(AuthenticationFailed, code="invalid_signature"):
    """The signature does not fit the request."""


class MalformedCredentials(AuthenticationFailed, code="malformed_credentials"):
    """The signature headers are not well formed."""


class MissingCredentials(AuthenticationFailed, code="missing_credentials"):
    """The request is not signed."""


class SignatureReplayed(AuthenticationFailed, code="signature_replayed"):
    """The signature has been used before."""


class TimestampNotSeconds(AuthenticationFailed, code="timestamp_not_seconds"):
    """The timestamp is not in whole seconds."""


class TimestampOutOfRange(AuthenticationFailed, code="timestamp_out_of_range"):
    """The timestamp is too far from the server's time."""


class InsufficientPermissions(PermissionDenied, code="insufficient_permissions"):
    """The API key lacks a permission."""


class IpNotAllowed(PermissionDenied, code="ip_not_allowed"):
    """The API key may not be used from this address."""


class TestKeyRequired(PermissionDenied, code="test_key_required"):
    """Only test keys may do this."""


class AttachmentQuotaExceeded(Conflict, code="attachment_quota_exceeded"):
    """The tenant's attachments use all of their space."""


class CustomerEmailTaken(Conflict, code="customer_email_taken"):
    """Another customer has this e-mail address."""


class CustomerHasTickets(Conflict, code="customer_has_tickets"):
    """The customer has tickets and cannot be deleted."""


class IdempotencyInFlight(Conflict, code="idempotency_in_flight"):
    """A request with this idempotency key is being answered."""


class InvalidTransition(Conflict, code="invalid_transition"):
    """The ticket cannot change to this status."""


class CustomerErased(Conflict, code="customer_erased"):
    """The customer is erased."""


class CustomerMerged(Conflict, code="customer_merged"):
    """The customer is merged into another one."""


class TooManyTickets(Conflict, code="too_many_tickets"):
    """Too many tickets to move."""


class MergeFinal(Conflict, code="merge_final"):
    """The merge can no longer be undone."""


class MergeIntoItself(Conflict, code="merge_into_itself"):
    """Nothing can be merged into itself."""


class AlreadyRated(Conflict, code="already_rated"):
    """The ticket has its rating."""


class NobodyToRate(Conflict, code="nobody_to_rate"):
    """The customer of the ticket was erased."""


class NotMerged(Conflict, code="not_merged"):
    """There is no merge to undo."""


class SnoozeOfEnded(Conflict, code="snooze_of_ended"):
    """A finished ticket cannot be snoozed."""


class NoRecipient(Conflict, code="no_recipient"):
    """Nobody can receive the reply."""


class TicketClosed(Conflict, code="ticket_closed"):
    """The ticket is closed."""


class TicketMerged(Conflict, code="ticket_merged"):
    """The ticket is merged into another one."""


class TooManyReplies(Conflict, code="too_many_replies"):
    """Too many replies to move."""


class TooManySnoozed(Conflict, code="too_many_snoozed"):
    """Too many tickets are snoozed."""


class ExternalIdNotUnique(Conflict, code="external_id_not_unique"):
    """Several customers have this external_id."""


class LinkedOtherwise(Conflict, code="linked_otherwise"):
    """The tickets are linked in another way."""


class LinkCircle(Conflict, code="link_circle"):
    """The tickets would block each other."""


class TooManyLinks(Conflict, code="too_many_links"):
    """Too many links."""


class TooManyFollowers(Conflict, code="too_many_followers"):
    """Too many people follow the ticket."""


class TooManyWebhooks(Conflict, code="too_many_webhooks"):
    """The tenant has the maximum number of webhook endpoints."""


class TooManyRules(Conflict, code="too_many_rules"):
    """The desk has the maximum number of rules."""


class TooManyMailboxes(Conflict, code="too_many_mailboxes"):
    """The tenant has the maximum number of mailboxes."""


class TooManyMailBlocks(Conflict, code="too_many_mail_blocks"):
    """The tenant has the maximum number of blocked senders."""


class MessageDecided(Conflict, code="message_decided"):
    """There is nothing to decide about the message."""


class SenderCannotBeAdded(Conflict, code="sender_cannot_be_added"):
    """The sender cannot become a participant."""


class NoMailbox(Conflict, code="no_mailbox"):
    """The tenant has no mailbox."""


class MessageNotHeld(Conflict, code="message_not_held"):
    """The message does not wait."""


class MessageNotProcessed(Conflict, code="message_not_processed"):
    """Sealdesk cannot process the message."""


class MailboxAddressTaken(Conflict, code="mailbox_address_taken"):
    """A mailbox of the installation has the address."""


class MailDomainAssigned(Conflict, code="mail_domain_assigned"):
    """The operator has assigned the domain of the address to another desk."""


class WebhookInactive(Conflict, code="webhook_inactive"):
    """The webhook endpoint is paused or disabled."""


class ReplayInProgress(Conflict, code="replay_in_progress"):
    """A replay to the webhook endpoint is under way."""


class CursorExpired(Gone, code="cursor_expired"):
    """The cursor leads to a position that no longer exists."""


class MessageExpired(Gone, code="message_expired"):
    """The message is kept no longer."""


class VersionMismatch(PreconditionFailed, code="version_mismatch"):
    """The resource has changed since it was read."""


class BodyTooLarge(ContentTooLarge, code="body_too_large"):
    """The body is too large."""


class FileTypeNotAllowed(UnsupportedMediaType, code="file_type_not_allowed"):
    """Files of this type may not be attached."""


class IdempotencyKeyReused(Unprocessable, code="idempotency_key_reused"):
    """The idempotency key was used for another body."""


class ValidationFailed(Unprocessable, code="validation_failed"):
    """The body breaks a rule."""


class RateLimitExceeded(RateLimited, code="rate_limit_exceeded"):
    """The API key has used up its rate limit."""


class TenantRateLimitExceeded(RateLimited, code="tenant_rate_limit_exceeded"):
    """The tenant has used up its rate limit."""


class TooManyMailboxTests(RateLimited, code="too_many_mailbox_tests"):
    """The tenant has tested its mailboxes too often."""


class TooManyWaitingRequests(RateLimited, code="too_many_waiting_requests"):
    """Too many requests of this tenant wait for events."""


class InternalError(ServerFailed, code="internal_error"):
    """Something went wrong on our side."""


class UnknownTransferCoding(ServerFailed, code="unknown_transfer_coding"):
    """The transfer coding is not supported."""


class QueryTooSlow(ServiceUnavailable, code="query_too_slow"):
    """The query took too long."""


class StorageUnavailable(ServiceUnavailable, code="storage_unavailable"):
    """The storage cannot be reached."""


class TooManyBytes(ServiceUnavailable, code="too_many_bytes"):
    """Too many bytes are being sent or received."""
