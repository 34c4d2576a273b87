/** The errors of the client: one class for each kind of failure and each HTTP status. */
const SHOWN_RULES = 5;
/** Any failure of the client. Its message says what to do. */
export class SealdeskError extends Error {
    constructor(message, options) {
        super(printable(message), options);
        this.name = new.target.name;
    }
}
/** The key, the secret or the URL cannot be used; nothing was sent. */
export class InvalidConfiguration extends SealdeskError {
}
/** No response arrived. Whether the service received the request is not known. */
export class ConnectionFailed extends SealdeskError {
}
/** The webhook is not signed with this secret, is malformed or too old: answer with 400. */
export class InvalidWebhook extends SealdeskError {
}
/** The response is not one of Sealdesk: a redirect, a page of a proxy, a captive portal. */
export class UnexpectedResponse extends SealdeskError {
    status;
    constructor(message, status) {
        super(message);
        this.status = status;
    }
}
/** The service refused the request and said why. */
export class ApiError extends SealdeskError {
    status;
    problem;
    retryAfterS;
    /** Stable: branch on it. */
    code;
    /** The known mistake that leads to this signature. */
    diagnosis;
    /** Finds the request in the log of the service. */
    requestId;
    /** problem: the whole document. retryAfterS: when to try again. hint: what the client found. */
    constructor(status, problem, retryAfterS, hint = "") {
        super(describe(status, problem, hint));
        this.status = status;
        this.problem = problem;
        this.retryAfterS = retryAfterS;
        this.code = problem.code;
        this.diagnosis = text(problem["diagnosis"]);
        this.requestId = text(problem["request_id"]);
    }
    /** For people. */
    get detail() {
        return this.problem.detail ?? this.problem.title ?? "";
    }
}
/** 400: the service cannot read the request. */
export class BadRequest extends ApiError {
}
/** 401: the key or the signature is not accepted. */
export class AuthenticationFailed extends ApiError {
}
/** 403: the key may not do this. */
export class PermissionDenied extends ApiError {
}
/** 404: it does not exist in the tenant of the key. */
export class NotFound extends ApiError {
}
/** 405: the path does not have this method. */
export class MethodNotAllowed extends ApiError {
}
/** 408: the request did not arrive in time. */
export class RequestTimeout extends ApiError {
}
/** 409: the request contradicts what is stored. */
export class Conflict extends ApiError {
}
/** 410: the requested data no longer exists. */
export class Gone extends ApiError {
}
/** 412: the resource has changed since it was read. */
export class PreconditionFailed extends ApiError {
}
/** 413: the body is over the limit. */
export class ContentTooLarge extends ApiError {
}
/** 415: the type or the encoding of the body is not supported. */
export class UnsupportedMediaType extends ApiError {
}
/** 422: the request can be read, but breaks a rule. */
export class Unprocessable extends ApiError {
}
/** 429: a limit is reached; `retryAfterS` says for how long. */
export class RateLimited extends ApiError {
}
/** 431: the headers are over the limit. */
export class HeadersTooLarge extends ApiError {
}
/** 5xx: the service failed. */
export class ServerFailed extends ApiError {
}
/** 503: the service cannot do this at the moment. */
export class ServiceUnavailable extends ServerFailed {
}
const OF_STATUS = {
    400: BadRequest,
    401: AuthenticationFailed,
    403: PermissionDenied,
    404: NotFound,
    405: MethodNotAllowed,
    408: RequestTimeout,
    409: Conflict,
    410: Gone,
    412: PreconditionFailed,
    413: ContentTooLarge,
    415: UnsupportedMediaType,
    422: Unprocessable,
    429: RateLimited,
    431: HeadersTooLarge,
    503: ServiceUnavailable,
};
/** The class of a status, for codes that this version of the client does not know. */
export function classOfStatus(status) {
    return OF_STATUS[status] ?? (status >= 500 ? ServerFailed : ApiError);
}
function describe(status, problem, hint) {
    const parts = [`${status} ${problem.code}: ${problem.detail ?? problem.title ?? ""}`];
    if (problem["diagnosis"])
        parts.push(`Diagnosis: ${text(problem["diagnosis"])}.`);
    const faults = Array.isArray(problem["errors"]) ? problem["errors"] : [];
    for (const fault of faults.slice(0, SHOWN_RULES)) {
        parts.push(`${fault?.pointer ?? ""}: ${fault?.message ?? ""}`);
    }
    if (faults.length > SHOWN_RULES)
        parts.push(`and ${faults.length - SHOWN_RULES} more.`);
    if (hint)
        parts.push(hint);
    if (problem["request_id"])
        parts.push(`(request ${text(problem["request_id"])})`);
    return parts.join(" ");
}
/** Without control characters, which terminals would obey. */
function printable(message) {
    return message.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => {
        return `\\u{${each.codePointAt(0)?.toString(16)}}`;
    });
}
function text(value) {
    return value === undefined || value === null ? undefined : String(value);
}
