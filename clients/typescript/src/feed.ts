/** The events feed as an iterator without end, which goes on after failures and restarts. */

import {
  ApiError,
  ConnectionFailed,
  RateLimited,
  type SealdeskError,
  ServerFailed,
  UnexpectedResponse,
} from "./errors.js";
import type { Page } from "./pages.js";

const PAUSES_S = [1, 2, 4, 8, 15, 30];
/** A service that is stopping responds at once, whatever the wait. */
const LEAST_INTERVAL_S = 1;

/**
 * cursor: where to go on after a restart. start: where to begin without one. waitS: how long a
 * request waits for an event. onFailure: called before each pause after a failure.
 */
export interface FeedOptions {
  cursor?: string | undefined;
  types?: readonly string[];
  start?: "latest" | "oldest";
  waitS?: number;
  onFailure?: (error: SealdeskError, pauseS: number) => void;
  signal?: AbortSignal;
}

type Read<T> = (cursor: string | undefined, waitS: number) => Promise<Page<T>>;
type Sleep = (seconds: number, signal?: AbortSignal) => Promise<void>;

/**
 * The events of the tenant, oldest first, without end: waits for new ones, and goes on after
 * failures. An event comes again if `cursor` was stored before it: compare its `id`.
 */
export class Feed<T> implements AsyncIterable<T> {
  /** After the last page whose events were all taken. Store it; undefined before the first page. */
  cursor: string | undefined;
  #failures = 0;

  constructor(
    private readonly read: Read<T>,
    private readonly sleep: Sleep,
    private readonly options: FeedOptions,
  ) {
    this.cursor = options.cursor;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** Pages with at least one event. `cursor` moves when the next one is asked for. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (;;) {
      const beganMs = Date.now();
      const isFirst = this.cursor === undefined;
      const page = await this.#readOrPause(isFirst);
      if (page === undefined) continue;
      this.#failures = 0;
      if (page.data.length > 0) yield page;
      this.cursor = page.resumeCursor ?? this.cursor;
      const idleS = LEAST_INTERVAL_S - (Date.now() - beganMs) / 1000;
      if (page.data.length === 0 && !isFirst && idleS > 0) {
        await this.sleep(idleS, this.options.signal);
      }
    }
  }

  async #readOrPause(isFirst: boolean): Promise<Page<T> | undefined> {
    // Without a wait at first, to fix the position now and not when the first event arrives; and
    // after a failure, to notice at once that the service responds.
    const waitS = isFirst || this.#failures > 0 ? 0 : (this.options.waitS ?? 30);
    try {
      return await this.read(this.cursor, waitS);
    } catch (error) {
      if (!isPassing(error)) throw error;
      const usualS = PAUSES_S[Math.min(this.#failures, PAUSES_S.length - 1)] ?? 30;
      const pauseS = (error instanceof ApiError && error.retryAfterS) || usualS;
      this.#failures += 1;
      this.options.onFailure?.(error, pauseS);
      await this.sleep(pauseS, this.options.signal);
      return undefined;
    }
  }
}

/** Whether the same request may succeed later. */
function isPassing(error: unknown): error is SealdeskError {
  if (error instanceof UnexpectedResponse) return error.status >= 500;
  return (
    error instanceof ConnectionFailed ||
    error instanceof RateLimited ||
    error instanceof ServerFailed
  );
}
