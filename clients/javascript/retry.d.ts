/** Decides when a request is sent again. */
/**
 * How often, and after which pauses, a request is sent again.
 *
 * retries: attempts after the first one. The pause before the nth is random, between 0 and
 * baseS · 2ⁿ, at most maxPauseS ("full jitter"). maxWaitS: a longer Retry-After is not waited for,
 * but thrown.
 */
export interface RetryPolicy {
    retries: number;
    baseS: number;
    maxPauseS: number;
    maxWaitS: number;
}
export declare const DEFAULT_POLICY: RetryPolicy;
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
/** Seconds of a Retry-After header in either form; undefined without one. */
export declare function readRetryAfterS(headers: Headers, nowMs: number): number | undefined;
