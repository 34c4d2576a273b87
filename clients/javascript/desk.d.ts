/** `Desk`: a tenant of Sealdesk, through the permissions of one API key. */
import { type Bytes } from "./bytes.js";
import { Webhooks } from "./endpoints.js";
import { Pages } from "./pages.js";
import { Attachments, Customers, Events, Followers, Links, Participants, type ListOptions, Replies, Tickets } from "./resources.js";
import { type RetryPolicy } from "./retry.js";
import { Rules } from "./rules.js";
import { type Received, type Retry, Transport } from "./transport.js";
import type { Agent, Report, ReportFilters, ReportTicketFilters, ServerTime, Team, TestClock, Ticket, WhoAmI } from "./types.js";
/**
 * baseUrl: scheme and host of the service. fetch: of your own, for proxies or tests; now:
 * milliseconds since 1970; showsSignedMessage: false, and a request whose signature is refused is not
 * sent once more with what was signed, by which the refusal shows the first difference.
 */
export interface DeskOptions {
    apiKey: string;
    apiSecret: string;
    baseUrl: string;
    timeoutMs?: number;
    retry?: Partial<RetryPolicy>;
    fetch?: typeof fetch;
    sleep?: (seconds: number) => Promise<void>;
    random?: () => number;
    now?: () => number;
    warn?: (text: string) => void;
    showsSignedMessage?: boolean;
}
/**
 * How calls are made: see `Desk.withOptions`. timeoutMs: of each attempt. deadlineMs: of a call with
 * all its attempts and pauses. signal: ends calls. onRetry: is told of each attempt after the first.
 */
export interface CallOptions {
    timeoutMs?: number;
    deadlineMs?: number;
    signal?: AbortSignal;
    retry?: Partial<RetryPolicy>;
    onRetry?: (retry: Retry) => void;
}
export declare class Desk {
    #private;
    readonly tickets: Tickets;
    readonly replies: Replies;
    readonly customers: Customers;
    readonly followers: Followers;
    readonly links: Links;
    readonly participants: Participants;
    readonly attachments: Attachments;
    readonly webhooks: Webhooks;
    readonly rules: Rules;
    readonly events: Events;
    /** Throws InvalidConfiguration. transport: of another desk, for `withOptions`. */
    constructor(options: DeskOptions | {
        transport: Transport;
    });
    /** Reads SEALDESK_API_KEY, SEALDESK_API_SECRET and SEALDESK_API_URL. */
    static fromEnvironment(options?: Partial<DeskOptions>): Desk;
    /** The same desk with other options, for one call or many; the rate limit stays shared. */
    withOptions(options: CallOptions): Desk;
    /**
     * Signs with these from now on, as after a rotation; so do the desks of `withOptions`. Throws
     * InvalidConfiguration.
     */
    useCredentials(apiKey: string, apiSecret: string): void;
    /** Later calls, those of the desks of `withOptions` too, throw InvalidConfiguration. */
    close(): void;
    /** The URL of the service, without a trailing slash. */
    get baseUrl(): string;
    /** What the service knows of the key: a good first request. */
    whoami(): Promise<WhoAmI>;
    /** The time of the test tenant; for keys that begin with tk_test_. */
    testClock(): Promise<TestClock>;
    /** Sets the clock of the test tenant ahead, to a time or by a number of seconds. */
    setTestClock(change: {
        now: string;
    } | {
        advance_s: number;
    }): Promise<TestClock>;
    /** The users to whom tickets can be assigned. */
    agents(options?: ListOptions): Pages<Agent>;
    /** The teams to which tickets can be given. */
    teams(options?: ListOptions): Pages<Team>;
    /** What happened to tickets in a period, by default this week, and in the one before. */
    report(filters?: ReportFilters): Promise<Report>;
    /** The tickets behind a figure of a report, the latest first. */
    reportTickets(filters?: ReportTicketFilters, options?: ListOptions): Pages<Ticket>;
    /** The time of the service. */
    time(): Promise<ServerTime>;
    /** The rows of any list, also of one that this version of the client does not know. */
    list<T>(path: string, query?: object, options?: ListOptions): Pages<T>;
    /**
     * A signed request to any path, and the response, whatever its status. target: path and query,
     * percent-encoded. A POST gets an Idempotency-Key. A response of more than 64 MiB is refused.
     */
    request(method: string, target: string, body?: string | Bytes, headers?: Record<string, string>): Promise<Received>;
}
