/** Sends signed requests: signs every attempt, retries, corrects the clock, reads responses. */
import type { Bytes } from "./bytes.js";
import * as retry from "./retry.js";
import { type Signer } from "./signing.js";
export declare const MAX_FILE_BYTES: number;
/** What a transport needs; functions are replaced in tests. */
export interface TransportOptions {
    policy: retry.RetryPolicy;
    timeoutMs: number;
    fetch: typeof fetch;
    sleep: (seconds: number) => Promise<void>;
    random: () => number;
    warn: (text: string) => void;
    showsSignedMessage: boolean;
    limiter: retry.Limiter;
    state: {
        isClosed: boolean;
    };
    deadlineMs?: number | undefined;
    signal?: AbortSignal | undefined;
    onRetry?: ((retry: Retry) => void) | undefined;
}
/** A request that is sent again. reason: a status, or the code or name of an error. */
export interface Retry {
    method: string;
    target: string;
    reason: string;
    pauseS: number;
}
/** The response from which a result was read. */
export interface ResponseInfo {
    status: number;
    headers: Headers;
    etag: string | undefined;
    requestId: string | undefined;
}
/**
 * The response of a result that a method has returned, or of the `data` of a page: its ETag, its
 * request id and its other headers, such as `ratelimit` and `x-warnings`. undefined for other objects.
 */
export declare function responseOf(result: object): ResponseInfo | undefined;
/** What `responseOf` finds its response by. */
export declare function withResponse<T extends object>(result: T, { status, headers }: Received): T;
/**
 * A request. target: encoded path and query. extraMs: how much longer than usual it may take.
 * maxBytes: of the response. isRepeatable: false if a second attempt could be refused because the
 * first one had its effect. isList: whether the result is one. resourceId: which it must have.
 */
export interface Sending {
    method: string;
    target: string;
    body?: Bytes;
    headers?: Record<string, string>;
    extraMs?: number;
    maxBytes?: number;
    isRepeatable?: boolean;
    isList?: boolean;
    resourceId?: string | undefined;
    signal?: AbortSignal | undefined;
}
/** A response whose body is read. */
export interface Received {
    status: number;
    headers: Headers;
    body: Bytes;
}
export declare class Transport {
    #private;
    readonly baseUrl: string;
    readonly signer: Signer;
    private readonly options;
    constructor(baseUrl: string, signer: Signer, options: TransportOptions);
    /** The same one with other options; the signatures and the rate limit stay shared. */
    with(options: Partial<TransportOptions>): Transport;
    /** Refuses further attempts, also of those that have other options. */
    close(): void;
    /** The JSON of a 2xx response. Throws SealdeskError. */
    json(sending: Sending): Promise<any>;
    /** A 2xx response. Throws SealdeskError. */
    success(sending: Sending): Promise<Received>;
    /** The response, whatever its status. Throws ConnectionFailed if none arrives. */
    send(given: Sending): Promise<Received>;
    /** Waits, unless the caller gives up. */
    sleep(seconds: number, signal?: AbortSignal): Promise<void>;
}
