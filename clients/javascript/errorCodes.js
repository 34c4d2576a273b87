/** Made from the OpenAPI document by `python -m tests.typescript`. */
import { AuthenticationFailed, BadRequest, Conflict, ContentTooLarge, Gone, HeadersTooLarge, NotFound, PermissionDenied, PreconditionFailed, RateLimited, RequestTimeout, ServerFailed, ServiceUnavailable, Unprocessable, UnsupportedMediaType, classOfStatus, } from "./errors.js";
/** 400: The attachment is empty. */
export class EmptyAttachment extends BadRequest {
}
/** 400: The cursor does not belong to this query. */
export class InvalidCursor extends BadRequest {
}
/** 400: A header has a value that it cannot take. */
export class InvalidHeader extends BadRequest {
}
/** 400: A query parameter has a value that it cannot take. */
export class InvalidParameter extends BadRequest {
}
/** 400: The body is not JSON that can be read. */
export class MalformedJson extends BadRequest {
}
/** 400: The request is not HTTP that can be read. */
export class MalformedRequest extends BadRequest {
}
/** 400: A query parameter does not exist. */
export class UnknownParameter extends BadRequest {
}
/** 401: The API key has expired. */
export class ApiKeyExpired extends AuthenticationFailed {
}
/** 401: The API key has been revoked. */
export class ApiKeyRevoked extends AuthenticationFailed {
}
/** 401: The API key waits for confirmation after a restore. */
export class ApiKeyUnconfirmed extends AuthenticationFailed {
}
/** 401: The API key is not known. */
export class InvalidApiKey extends AuthenticationFailed {
}
/** 401: The signature does not fit the request. */
export class InvalidSignature extends AuthenticationFailed {
}
/** 401: The signature headers are not well formed. */
export class MalformedCredentials extends AuthenticationFailed {
}
/** 401: The request is not signed. */
export class MissingCredentials extends AuthenticationFailed {
}
/** 401: The signature has been used before. */
export class SignatureReplayed extends AuthenticationFailed {
}
/** 401: The timestamp is not in whole seconds. */
export class TimestampNotSeconds extends AuthenticationFailed {
}
/** 401: The timestamp is too far from the server's time. */
export class TimestampOutOfRange extends AuthenticationFailed {
}
/** 403: The API key lacks a permission. */
export class InsufficientPermissions extends PermissionDenied {
}
/** 403: The API key may not be used from this address. */
export class IpNotAllowed extends PermissionDenied {
}
/** 403: Only test keys may do this. */
export class TestKeyRequired extends PermissionDenied {
}
/** 409: The ticket is rated. */
export class AlreadyRated extends Conflict {
}
/** 409: The tenant's attachments use all of their space. */
export class AttachmentQuotaExceeded extends Conflict {
}
/** 409: Another customer has this e-mail address. */
export class CustomerEmailTaken extends Conflict {
}
/** 409: The customer is erased. */
export class CustomerErased extends Conflict {
}
/** 409: The customer has tickets. */
export class CustomerHasTickets extends Conflict {
}
/** 409: The customer is merged into another one. */
export class CustomerMerged extends Conflict {
}
/** 409: Several customers have this external_id. */
export class ExternalIdNotUnique extends Conflict {
}
/** 409: A request with this idempotency key is being answered. */
export class IdempotencyInFlight extends Conflict {
}
/** 409: The ticket cannot change to this status. */
export class InvalidTransition extends Conflict {
}
/** 409: The tickets would block each other. */
export class LinkCircle extends Conflict {
}
/** 409: The tickets are linked in another way. */
export class LinkedOtherwise extends Conflict {
}
/** 409: The merge can no longer be undone. */
export class MergeFinal extends Conflict {
}
/** 409: Nothing can be merged into itself. */
export class MergeIntoItself extends Conflict {
}
/** 409: The tenant has no mailbox. */
export class NoMailbox extends Conflict {
}
/** 409: Nobody can receive the reply. */
export class NoRecipient extends Conflict {
}
/** 409: The customer of the ticket is erased. */
export class NobodyToRate extends Conflict {
}
/** 409: There is no merge to undo. */
export class NotMerged extends Conflict {
}
/** 409: A replay to the webhook endpoint is under way. */
export class ReplayInProgress extends Conflict {
}
/** 409: A finished ticket cannot be snoozed. */
export class SnoozeOfEnded extends Conflict {
}
/** 409: The ticket is closed. */
export class TicketClosed extends Conflict {
}
/** 409: The ticket is merged into another one. */
export class TicketMerged extends Conflict {
}
/** 409: Too many people follow the ticket. */
export class TooManyFollowers extends Conflict {
}
/** 409: Too many links. */
export class TooManyLinks extends Conflict {
}
/** 409: Too many replies to move. */
export class TooManyReplies extends Conflict {
}
/** 409: The tenant has the maximum number of rules. */
export class TooManyRules extends Conflict {
}
/** 409: Too many tickets are snoozed. */
export class TooManySnoozed extends Conflict {
}
/** 409: Too many tickets to move. */
export class TooManyTickets extends Conflict {
}
/** 409: The tenant has the maximum number of webhook endpoints. */
export class TooManyWebhooks extends Conflict {
}
/** 409: The webhook endpoint is paused or disabled. */
export class WebhookInactive extends Conflict {
}
/** 410: The cursor leads to a position that no longer exists. */
export class CursorExpired extends Gone {
}
/** 412: The resource has changed since it was read. */
export class VersionMismatch extends PreconditionFailed {
}
/** 413: The body is too large. */
export class BodyTooLarge extends ContentTooLarge {
}
/** 415: Files of this type may not be attached. */
export class FileTypeNotAllowed extends UnsupportedMediaType {
}
/** 422: The idempotency key was used for another body. */
export class IdempotencyKeyReused extends Unprocessable {
}
/** 422: The body breaks a rule. */
export class ValidationFailed extends Unprocessable {
}
/** 429: The API key has used up its rate limit. */
export class RateLimitExceeded extends RateLimited {
}
/** 429: The tenant has used up its rate limit. */
export class TenantRateLimitExceeded extends RateLimited {
}
/** 429: Too many requests of this tenant wait for events. */
export class TooManyWaitingRequests extends RateLimited {
}
/** 500: Something went wrong on our side. */
export class InternalError extends ServerFailed {
}
/** 503: The query took too long. */
export class QueryTooSlow extends ServiceUnavailable {
}
/** 503: The storage cannot be reached. */
export class StorageUnavailable extends ServiceUnavailable {
}
/** 503: Too many bytes are being sent or received. */
export class TooManyBytes extends ServiceUnavailable {
}
/** The class of each code. */
export const CLASS_OF_CODE = {
    empty_attachment: EmptyAttachment,
    invalid_cursor: InvalidCursor,
    invalid_header: InvalidHeader,
    invalid_parameter: InvalidParameter,
    malformed_json: MalformedJson,
    malformed_request: MalformedRequest,
    unknown_parameter: UnknownParameter,
    api_key_expired: ApiKeyExpired,
    api_key_revoked: ApiKeyRevoked,
    api_key_unconfirmed: ApiKeyUnconfirmed,
    invalid_api_key: InvalidApiKey,
    invalid_signature: InvalidSignature,
    malformed_credentials: MalformedCredentials,
    missing_credentials: MissingCredentials,
    signature_replayed: SignatureReplayed,
    timestamp_not_seconds: TimestampNotSeconds,
    timestamp_out_of_range: TimestampOutOfRange,
    insufficient_permissions: InsufficientPermissions,
    ip_not_allowed: IpNotAllowed,
    test_key_required: TestKeyRequired,
    not_found: NotFound,
    request_timeout: RequestTimeout,
    already_rated: AlreadyRated,
    attachment_quota_exceeded: AttachmentQuotaExceeded,
    customer_email_taken: CustomerEmailTaken,
    customer_erased: CustomerErased,
    customer_has_tickets: CustomerHasTickets,
    customer_merged: CustomerMerged,
    external_id_not_unique: ExternalIdNotUnique,
    idempotency_in_flight: IdempotencyInFlight,
    invalid_transition: InvalidTransition,
    link_circle: LinkCircle,
    linked_otherwise: LinkedOtherwise,
    merge_final: MergeFinal,
    merge_into_itself: MergeIntoItself,
    no_mailbox: NoMailbox,
    no_recipient: NoRecipient,
    nobody_to_rate: NobodyToRate,
    not_merged: NotMerged,
    replay_in_progress: ReplayInProgress,
    snooze_of_ended: SnoozeOfEnded,
    ticket_closed: TicketClosed,
    ticket_merged: TicketMerged,
    too_many_followers: TooManyFollowers,
    too_many_links: TooManyLinks,
    too_many_replies: TooManyReplies,
    too_many_rules: TooManyRules,
    too_many_snoozed: TooManySnoozed,
    too_many_tickets: TooManyTickets,
    too_many_webhooks: TooManyWebhooks,
    webhook_inactive: WebhookInactive,
    cursor_expired: CursorExpired,
    version_mismatch: VersionMismatch,
    body_too_large: BodyTooLarge,
    file_type_not_allowed: FileTypeNotAllowed,
    unsupported_media_type: UnsupportedMediaType,
    idempotency_key_reused: IdempotencyKeyReused,
    validation_failed: ValidationFailed,
    rate_limit_exceeded: RateLimitExceeded,
    tenant_rate_limit_exceeded: TenantRateLimitExceeded,
    too_many_waiting_requests: TooManyWaitingRequests,
    headers_too_large: HeadersTooLarge,
    internal_error: InternalError,
    query_too_slow: QueryTooSlow,
    storage_unavailable: StorageUnavailable,
    too_many_bytes: TooManyBytes,
};
/** The class of a code; of an unknown one, that of its status. */
export function classOfCode(code, status) {
    return Object.hasOwn(CLASS_OF_CODE, code)
        ? CLASS_OF_CODE[code]
        : classOfStatus(status);
}
