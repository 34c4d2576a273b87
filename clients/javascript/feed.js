/** The events feed as an iterator without end, which goes on after failures and restarts. */
import { ApiError, ConnectionFailed, RateLimited, ServerFailed, UnexpectedResponse, } from "./errors.js";
const PAUSES_S = [1, 2, 4, 8, 15, 30];
/** A service that is stopping responds at once, whatever the wait. */
const LEAST_INTERVAL_S = 1;
/**
 * The events of the tenant, oldest first, without end: waits for new ones, and goes on after
 * failures. An event comes again if `cursor` was stored before it: compare its `id`.
 */
export class Feed {
    read;
    sleep;
    options;
    /** After the last page whose events were all taken. Store it; undefined before the first page. */
    cursor;
    #failures = 0;
    constructor(read, sleep, options) {
        this.read = read;
        this.sleep = sleep;
        this.options = options;
        this.cursor = options.cursor;
    }
    async *[Symbol.asyncIterator]() {
        for await (const page of this.pages())
            yield* page.data;
    }
    /** Pages with at least one event. `cursor` moves when the next one is asked for. */
    async *pages() {
        for (;;) {
            const beganMs = Date.now();
            const isFirst = this.cursor === undefined;
            const page = await this.#readOrPause(isFirst);
            if (page === undefined)
                continue;
            this.#failures = 0;
            if (page.data.length > 0)
                yield page;
            this.cursor = page.resumeCursor ?? this.cursor;
            const idleS = LEAST_INTERVAL_S - (Date.now() - beganMs) / 1000;
            if (page.data.length === 0 && !isFirst && idleS > 0) {
                await this.sleep(idleS, this.options.signal);
            }
        }
    }
    async #readOrPause(isFirst) {
        // Without a wait at first, to fix the position now and not when the first event arrives; and
        // after a failure, to notice at once that the service responds.
        const waitS = isFirst || this.#failures > 0 ? 0 : (this.options.waitS ?? 30);
        try {
            return await this.read(this.cursor, waitS);
        }
        catch (error) {
            if (!isPassing(error))
                throw error;
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
function isPassing(error) {
    if (error instanceof UnexpectedResponse)
        return error.status >= 500;
    return (error instanceof ConnectionFailed ||
        error instanceof RateLimited ||
        error instanceof ServerFailed);
}
