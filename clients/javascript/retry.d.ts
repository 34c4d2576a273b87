/** Decides when a request is sent again. */
/**
 * How often, and after which pauses, a request is sent again.
 *
 * retries: attempts after the first one. The pause before the nth is random, between 0 and
 * baseS · 2ⁿ, at most maxPauseS ("full jitter"). maxWaitS: a longer Retry-After is not waited for,
 * but thrown. maxLimitedS: how long a call waits in all while a rate limit is used up, which costs no
 * retries.
 */
export interface RetryPolicy {
    retries: number;
    baseS: number;
    maxPauseS: number;
    maxWaitS: number;
    maxLimitedS: number;
}
export declare const DEFAULT_POLICY: RetryPolicy;
/** When a desk may send again after a rate limit was used up: its calls wait together. */
export declare class Limiter {
    #private;
    /** How long from now. */
    get pauseS(): number;
    /** Sends nothing for so long. */
    hold(seconds: number): void;
}
/** What a call has used of its retries, of its wait for a limit, and of its time. */
export declare class Call {
    #private;
    private readonly policy;
    private readonly limiter;
    constructor(policy: RetryPolicy, limiter: Limiter, deadlineMs?: number);
    /** The time of an attempt, none of which takes longer than is left of the call. */
    boundMs(timeoutMs: number): number;
    /** Whether the call may pause for a limit that is used up; the pause is counted. */
    waitsForLimit(pauseS: number): boolean;
    /** The pause before the next attempt after a limit was used up; undefined to give up. */
    limitedS(retryAfterS: number, share: number): number | undefined;
    /** The pause before the next attempt after another failure; undefined to give up. */
    failedS(retryAfterS: number | undefined, share: number): number | undefined;
}
/** The pause after so many failures; undefined to give up. share: a random number from 0 to 1. */
export declare function pauseS(policy: RetryPolicy, failures: number, retryAfterS: number | undefined, share: number): number | undefined;
/**
 * Whether sending it twice has the effect of sending it once. A merge patch sets the same values
 * again; with If-Match the second one would be refused although the first one had its effect.
 */
export declare function isRepeatable(method: string, headers: Headers): boolean;
/** Whether the same request may succeed after this response. code: of its problem. */
export declare function isTemporary(status: number, code: string | undefined, repeatable: boolean): boolean;
/** Whether a failure of fetch says that nothing was sent. */
export declare function wasNotSent(error: unknown): boolean;
/**
 * Seconds of a Retry-After header in either form; undefined without one. A date counts by the clock
 * of the service, if it says its time.
 */
export declare function readRetryAfterS(headers: Headers, nowMs: number): number | undefined;
