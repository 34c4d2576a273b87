/** Decides when a request is sent again. */
/** Statuses after which the same request may succeed. 409 only while the first is in progress. */
const TEMPORARY = new Set([408, 429, 500, 502, 503, 504]);
/** Codes of Node, Deno and Bun for requests that were never sent. */
const NOT_SENT = new Set([
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "UND_ERR_CONNECT_TIMEOUT",
    "ConnectionRefused",
    "FailedToOpenSocket",
]);
export const DEFAULT_POLICY = { retries: 4, baseS: 0.25, maxPauseS: 8, maxWaitS: 60 };
/** The pause after so many failures; undefined to give up. share: a random number from 0 to 1. */
export function pauseS(policy, failures, retryAfterS, share) {
    if (failures > policy.retries)
        return undefined;
    const jitterS = share * Math.min(policy.maxPauseS, policy.baseS * 2 ** Math.min(failures, 30));
    if (retryAfterS === undefined)
        return jitterS;
    return retryAfterS > policy.maxWaitS ? undefined : retryAfterS + jitterS;
}
/**
 * Whether sending it twice has the effect of sending it once. A merge patch sets the same values
 * again; with If-Match the second one would be refused although the first one had its effect.
 */
export function isRepeatable(method, headers) {
    if (method === "POST")
        return headers.has("idempotency-key");
    if (method === "PATCH")
        return !headers.has("if-match");
    return method === "GET" || method === "HEAD" || method === "PUT";
}
/** Whether the same request may succeed after this response. code: of its problem. */
export function isTemporary(status, code, repeatable) {
    if (status === 409)
        return code === "idempotency_in_flight";
    if (!TEMPORARY.has(status))
        return false;
    return status === 429 || repeatable;
}
/** Whether a failure of fetch says that nothing was sent. */
export function wasNotSent(error) {
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
        if (NOT_SENT.has(cause.code ?? ""))
            return true;
    }
    return false;
}
/** Seconds of a Retry-After header in either form; undefined without one. */
export function readRetryAfterS(headers, nowMs) {
    const value = headers.get("retry-after")?.trim() ?? "";
    if (/^\d{1,9}$/.test(value))
        return Number(value);
    const at = Date.parse(value);
    return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1000);
}
