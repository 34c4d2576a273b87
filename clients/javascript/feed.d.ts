/** The events feed as an iterator without end, which goes on after failures and restarts. */
import { type SealdeskError } from "./errors.js";
import type { Page } from "./pages.js";
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
export declare class Feed<T> implements AsyncIterable<T> {
    #private;
    private readonly read;
    private readonly sleep;
    private readonly options;
    /** After the last page whose events were all taken. Store it; undefined before the first page. */
    cursor: string | undefined;
    constructor(read: Read<T>, sleep: Sleep, options: FeedOptions);
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
    /** Pages with at least one event. `cursor` moves when the next one is asked for. */
    pages(): AsyncGenerator<Page<T>, void, undefined>;
}
export {};
