/** Made from the OpenAPI document by `python -m tests.typescript`. */
import { type ApiErrorClass, AuthenticationFailed, BadRequest, Conflict, ContentTooLarge, Gone, PermissionDenied, PreconditionFailed, RateLimited, ServerFailed, ServiceUnavailable, Unprocessable, UnsupportedMediaType } from "./errors.js";
/** 400: The attachment is empty. */
export declare class EmptyAttachment extends BadRequest {
}
/** 400: The cursor does not belong to this query. */
export declare class InvalidCursor extends BadRequest {
}
/** 400: A header has a value that it cannot take. */
export declare class InvalidHeader extends BadRequest {
}
/** 400: A query parameter has a value that it cannot take. */
export declare class InvalidParameter extends BadRequest {
}
/** 400: The body is not JSON that can be read. */
export declare class MalformedJson extends BadRequest {
}
/** 400: The request is not HTTP that can be read. */
export declare class MalformedRequest extends BadRequest {
}
/** 400: A query parameter does not exist. */
export declare class UnknownParameter extends BadRequest {
}
/** 401: The API key has expired. */
export declare class ApiKeyExpired extends AuthenticationFailed {
}
/** 401: The API key has been revoked. */
export declare class ApiKeyRevoked extends AuthenticationFailed {
}
/** 401: The API key waits for confirmation after a restore. */
export declare class ApiKeyUnconfirmed extends AuthenticationFailed {
}
/** 401: The API key is not known. */
export declare class InvalidApiKey extends AuthenticationFailed {
}
/** 401: The signature does not fit the request. */
export declare class InvalidSignature extends AuthenticationFailed {
}
/** 401: The signature headers are not well formed. */
export declare class MalformedCredentials extends AuthenticationFailed {
}
/** 401: The request is not signed. */
export declare class MissingCredentials extends AuthenticationFailed {
}
/** 401: The signature has been used before. */
export declare class SignatureReplayed extends AuthenticationFailed {
}
/** 401: The timestamp is not in whole seconds. */
export declare class TimestampNotSeconds extends AuthenticationFailed {
}
/** 401: The timestamp is too far from the server's time. */
export declare class TimestampOutOfRange extends AuthenticationFailed {
}
/** 403: The API key lacks a permission. */
export declare class InsufficientPermissions extends PermissionDenied {
}
/** 403: The API key may not be used from this address. */
export declare class IpNotAllowed extends PermissionDenied {
}
/** 403: Only test keys may do this. */
export declare class TestKeyRequired extends PermissionDenied {
}
/** 409: The ticket is rated. */
export declare class AlreadyRated extends Conflict {
}
/** 409: The tenant's attachments use all of their space. */
export declare class AttachmentQuotaExceeded extends Conflict {
}
/** 409: Another customer has this e-mail address. */
export declare class CustomerEmailTaken extends Conflict {
}
/** 409: The customer is erased. */
export declare class CustomerErased extends Conflict {
}
/** 409: The customer has tickets. */
export declare class CustomerHasTickets extends Conflict {
}
/** 409: The customer is merged into another one. */
export declare class CustomerMerged extends Conflict {
}
/** 409: Several customers have this external_id. */
export declare class ExternalIdNotUnique extends Conflict {
}
/** 409: A request with this idempotency key is being answered. */
export declare class IdempotencyInFlight extends Conflict {
}
/** 409: The ticket cannot change to this status. */
export declare class InvalidTransition extends Conflict {
}
/** 409: The tickets would block each other. */
export declare class LinkCircle extends Conflict {
}
/** 409: The tickets are linked in another way. */
export declare class LinkedOtherwise extends Conflict {
}
/** 409: The merge can no longer be undone. */
export declare class MergeFinal extends Conflict {
}
/** 409: Nothing can be merged into itself. */
export declare class MergeIntoItself extends Conflict {
}
/** 409: The tenant has no mailbox. */
export declare class NoMailbox extends Conflict {
}
/** 409: Nobody can receive the reply. */
export declare class NoRecipient extends Conflict {
}
/** 409: The customer of the ticket is erased. */
export declare class NobodyToRate extends Conflict {
}
/** 409: There is no merge to undo. */
export declare class NotMerged extends Conflict {
}
/** 409: A replay to the webhook endpoint is under way. */
export declare class ReplayInProgress extends Conflict {
}
/** 409: A finished ticket cannot be snoozed. */
export declare class SnoozeOfEnded extends Conflict {
}
/** 409: The ticket is closed. */
export declare class TicketClosed extends Conflict {
}
/** 409: The ticket is merged into another one. */
export declare class TicketMerged extends Conflict {
}
/** 409: Too many people follow the ticket. */
export declare class TooManyFollowers extends Conflict {
}
/** 409: Too many links. */
export declare class TooManyLinks extends Conflict {
}
/** 409: Too many replies to move. */
export declare class TooManyReplies extends Conflict {
}
/** 409: The tenant has the maximum number of rules. */
export declare class TooManyRules extends Conflict {
}
/** 409: Too many tickets are snoozed. */
export declare class TooManySnoozed extends Conflict {
}
/** 409: Too many tickets to move. */
export declare class TooManyTickets extends Conflict {
}
/** 409: The tenant has the maximum number of webhook endpoints. */
export declare class TooManyWebhooks extends Conflict {
}
/** 409: The webhook endpoint is paused or disabled. */
export declare class WebhookInactive extends Conflict {
}
/** 410: The cursor leads to a position that no longer exists. */
export declare class CursorExpired extends Gone {
}
/** 412: The resource has changed since it was read. */
export declare class VersionMismatch extends PreconditionFailed {
}
/** 413: The body is too large. */
export declare class BodyTooLarge extends ContentTooLarge {
}
/** 415: Files of this type may not be attached. */
export declare class FileTypeNotAllowed extends UnsupportedMediaType {
}
/** 422: The idempotency key was used for another body. */
export declare class IdempotencyKeyReused extends Unprocessable {
}
/** 422: The body breaks a rule. */
export declare class ValidationFailed extends Unprocessable {
}
/** 429: The API key has used up its rate limit. */
export declare class RateLimitExceeded extends RateLimited {
}
/** 429: The tenant has used up its rate limit. */
export declare class TenantRateLimitExceeded extends RateLimited {
}
/** 429: Too many requests of this tenant wait for events. */
export declare class TooManyWaitingRequests extends RateLimited {
}
/** 500: Something went wrong on our side. */
export declare class InternalError extends ServerFailed {
}
/** 503: The query took too long. */
export declare class QueryTooSlow extends ServiceUnavailable {
}
/** 503: The storage cannot be reached. */
export declare class StorageUnavailable extends ServiceUnavailable {
}
/** 503: Too many bytes are being sent or received. */
export declare class TooManyBytes extends ServiceUnavailable {
}
/** The class of each code. */
export declare const CLASS_OF_CODE: Readonly<Record<string, ApiErrorClass>>;
/** The class of a code; of an unknown one, that of its status. */
export declare function classOfCode(code: string, status: number): ApiErrorClass;
