/** The errors of the client: one class for each kind of failure and each HTTP status. */
/** Any failure of the client. Its message says what to do. */
export declare class SealdeskError extends Error {
    constructor(message: string, options?: ErrorOptions);
}
/** The key, the secret or the URL cannot be used; nothing was sent. */
export declare class InvalidConfiguration extends SealdeskError {
}
/** No response arrived. Whether the service received the request is not known. */
export declare class ConnectionFailed extends SealdeskError {
}
/** The webhook is not signed with this secret, is malformed or too old: answer with 400. */
export declare class InvalidWebhook extends SealdeskError {
}
/** The response is not one of Sealdesk: a redirect, a page of a proxy, a captive portal. */
export declare class UnexpectedResponse extends SealdeskError {
    readonly status: number;
    constructor(message: string, status: number);
}
/** A problem document (RFC 9457) with any further members. */
export type Problem = {
    code: string;
    detail?: string;
    title?: string;
    [name: string]: unknown;
};
/** The service refused the request and said why. */
export declare class ApiError extends SealdeskError {
    readonly status: number;
    readonly problem: Problem;
    readonly retryAfterS: number | undefined;
    /** Stable: branch on it. */
    readonly code: string;
    /** The known mistake that leads to this signature. */
    readonly diagnosis: string | undefined;
    /** Finds the request in the log of the service. */
    readonly requestId: string | undefined;
    /** problem: the whole document. retryAfterS: when to try again. hint: what the client found. */
    constructor(status: number, problem: Problem, retryAfterS: number | undefined, hint?: string);
    /** For people. */
    get detail(): string;
}
/** 400: the service cannot read the request. */
export declare class BadRequest extends ApiError {
}
/** 401: the key or the signature is not accepted. */
export declare class AuthenticationFailed extends ApiError {
}
/** 403: the key may not do this. */
export declare class PermissionDenied extends ApiError {
}
/** 404: it does not exist in the tenant of the key. */
export declare class NotFound extends ApiError {
}
/** 405: the path does not have this method. */
export declare class MethodNotAllowed extends ApiError {
}
/** 408: the request did not arrive in time. */
export declare class RequestTimeout extends ApiError {
}
/** 409: the request contradicts what is stored. */
export declare class Conflict extends ApiError {
}
/** 410: the requested data no longer exists. */
export declare class Gone extends ApiError {
}
/** 412: the resource has changed since it was read. */
export declare class PreconditionFailed extends ApiError {
}
/** 413: the body is over the limit. */
export declare class ContentTooLarge extends ApiError {
}
/** 415: the type or the encoding of the body is not supported. */
export declare class UnsupportedMediaType extends ApiError {
}
/** 422: the request can be read, but breaks a rule. */
export declare class Unprocessable extends ApiError {
}
/** 429: a limit is reached; `retryAfterS` says for how long. */
export declare class RateLimited extends ApiError {
}
/** 431: the headers are over the limit. */
export declare class HeadersTooLarge extends ApiError {
}
/** 5xx: the service failed. */
export declare class ServerFailed extends ApiError {
}
/** 503: the service cannot do this at the moment. */
export declare class ServiceUnavailable extends ServerFailed {
}
export type ApiErrorClass = new (status: number, problem: Problem, retryAfterS: number | undefined, hint?: string) => ApiError;
/** The class of a status, for codes that this version of the client does not know. */
export declare function classOfStatus(status: number): ApiErrorClass;
