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
export const DEFAULT_POLICY = {
    retries: 4,
    baseS: 0.25,
    maxPauseS: 8,
    maxWaitS: 60,
    maxLimitedS: 300,
};
/** When a desk may send again after a rate limit was used up: its calls wait together. */
export class Limiter {
    #untilMs = 0;
    /** How long from now. */
    get pauseS() {
        return Math.max(0, (this.#untilMs - performance.now()) / 1000);
    }
    /** Sends nothing for so long. */
    hold(seconds) {
        this.#untilMs = Math.max(this.#untilMs, performance.now() + seconds * 1000);
    }
}
/** What a call has used of its retries, of its wait for a limit, and of its time. */
export class Call {
    policy;
    limiter;
    #failures = 0;
    #limitedS = 0;
    #endsMs;
    constructor(policy, limiter, deadlineMs = Infinity) {
        this.policy = policy;
        this.limiter = limiter;
        this.#endsMs = performance.now() + deadlineMs;
    }
    /** The time of an attempt, none of which takes longer than is left of the call. */
    boundMs(timeoutMs) {
        return Math.max(1, Math.min(timeoutMs, Math.ceil(this.#endsMs - performance.now())));
    }
    /** Whether the call may pause for a limit that is used up; the pause is counted. */
    waitsForLimit(pauseS) {
        const waitedS = this.#limitedS + pauseS;
        const isShort = pauseS <= this.policy.maxWaitS && waitedS <= this.policy.maxLimitedS;
        if (!isShort || this.#isBehindEnd(pauseS))
            return false;
        this.#limitedS = waitedS;
        return true;
    }
    /** The pause before the next attempt after a limit was used up; undefined to give up. */
    limitedS(retryAfterS, share) {
        this.limiter.hold(retryAfterS);
        // The more often calls were refused together, the wider they are spread.
        const pauseS = retryAfterS + share * this.policy.baseS * (1 + this.#limitedS);
        return this.waitsForLimit(pauseS) ? pauseS : undefined;
    }
    /** The pause before the next attempt after another failure; undefined to give up. */
    failedS(retryAfterS, share) {
        this.#failures += 1;
        const found = pauseS(this.policy, this.#failures, retryAfterS, share);
        return found === undefined || this.#isBehindEnd(found) ? undefined : found;
    }
    #isBehindEnd(pauseS) {
        return performance.now() + pauseS * 1000 >= this.#endsMs;
    }
}
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
/**
 * Seconds of a Retry-After header in either form; undefined without one. A date counts by the clock
 * of the service, if it says its time.
 */
export function readRetryAfterS(headers, nowMs) {
    const value = headers.get("retry-after")?.trim() ?? "";
    if (/^\d{1,9}$/.test(value))
        return Number(value);
    const untilMs = readDateMs(value);
    if (untilMs === undefined)
        return undefined;
    return Math.max(0, (untilMs - (readDateMs(headers.get("date") ?? "") ?? nowMs)) / 1000);
}
function readDateMs(text) {
    // `Date.parse` takes "1.5" for a day in January.
    const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : NaN;
    return Number.isNaN(at) ? undefined : at;
}
