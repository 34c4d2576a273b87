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

export const DEFAULT_POLICY: RetryPolicy = {
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
  get pauseS(): number {
    return Math.max(0, (this.#untilMs - performance.now()) / 1000);
  }

  /** Sends nothing for so long. */
  hold(seconds: number): void {
    this.#untilMs = Math.max(this.#untilMs, performance.now() + seconds * 1000);
  }
}

/** What a call has used of its retries, of its wait for a limit, and of its time. */
export class Call {
  #failures = 0;
  #limitedS = 0;
  readonly #endsMs: number;

  constructor(
    private readonly policy: RetryPolicy,
    private readonly limiter: Limiter,
    deadlineMs = Infinity,
  ) {
    this.#endsMs = performance.now() + deadlineMs;
  }

  /** The time of an attempt, none of which takes longer than is left of the call. */
  boundMs(timeoutMs: number): number {
    return Math.max(1, Math.min(timeoutMs, Math.ceil(this.#endsMs - performance.now())));
  }

  /** Whether the call may pause for a limit that is used up; the pause is counted. */
  waitsForLimit(pauseS: number): boolean {
    const waitedS = this.#limitedS + pauseS;
    const isShort = pauseS <= this.policy.maxWaitS && waitedS <= this.policy.maxLimitedS;
    if (!isShort || this.#isBehindEnd(pauseS)) return false;
    this.#limitedS = waitedS;
    return true;
  }

  /** The pause before the next attempt after a limit was used up; undefined to give up. */
  limitedS(retryAfterS: number, share: number): number | undefined {
    this.limiter.hold(retryAfterS);
    // The more often calls were refused together, the wider they are spread.
    const pauseS = retryAfterS + share * this.policy.baseS * (1 + this.#limitedS);
    return this.waitsForLimit(pauseS) ? pauseS : undefined;
  }

  /** The pause before the next attempt after another failure; undefined to give up. */
  failedS(retryAfterS: number | undefined, share: number): number | undefined {
    this.#failures += 1;
    const found = pauseS(this.policy, this.#failures, retryAfterS, share);
    return found === undefined || this.#isBehindEnd(found) ? undefined : found;
  }

  #isBehindEnd(pauseS: number): boolean {
    return performance.now() + pauseS * 1000 >= this.#endsMs;
  }
}

/** The pause after so many failures; undefined to give up. share: a random number from 0 to 1. */
export function pauseS(
  policy: RetryPolicy,
  failures: number,
  retryAfterS: number | undefined,
  share: number,
): number | undefined {
  if (failures > policy.retries) return undefined;
  const jitterS = share * Math.min(policy.maxPauseS, policy.baseS * 2 ** Math.min(failures, 30));
  if (retryAfterS === undefined) return jitterS;
  return retryAfterS > policy.maxWaitS ? undefined : retryAfterS + jitterS;
}

/**
 * Whether sending it twice has the effect of sending it once. A merge patch sets the same values
 * again; with If-Match the second one would be refused although the first one had its effect.
 */
export function isRepeatable(method: string, headers: Headers): boolean {
  if (method === "POST") return headers.has("idempotency-key");
  if (method === "PATCH") return !headers.has("if-match");
  return method === "GET" || method === "HEAD" || method === "PUT";
}

/** Whether the same request may succeed after this response. code: of its problem. */
export function isTemporary(status: number, code: string | undefined, repeatable: boolean): boolean {
  if (status === 409) return code === "idempotency_in_flight";
  if (!TEMPORARY.has(status)) return false;
  return status === 429 || repeatable;
}

/** Whether a failure of fetch says that nothing was sent. */
export function wasNotSent(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (NOT_SENT.has((cause as { code?: string }).code ?? "")) return true;
  }
  return false;
}

/**
 * Seconds of a Retry-After header in either form; undefined without one. A date counts by the clock
 * of the service, if it says its time.
 */
export function readRetryAfterS(headers: Headers, nowMs: number): number | undefined {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const untilMs = readDateMs(value);
  if (untilMs === undefined) return undefined;
  return Math.max(0, (untilMs - (readDateMs(headers.get("date") ?? "") ?? nowMs)) / 1000);
}

function readDateMs(text: string): number | undefined {
  // `Date.parse` takes "1.5" for a day in January.
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : at;
}
