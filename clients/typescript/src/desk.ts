/** `Desk`: a tenant of Sealdesk, through the permissions of one API key. */

import { type Bytes, utf8 } from "./bytes.js";
import { checkUrl } from "./credentials.js";
import { Webhooks } from "./endpoints.js";
import { InvalidConfiguration } from "./errors.js";
import { Pages } from "./pages.js";
import {
  Attachments,
  Customers,
  Events,
  Followers,
  Links,
  Participants,
  jsonOf,
  type ListOptions,
  readPageOf,
  Replies,
  Tickets,
} from "./resources.js";
import { DEFAULT_POLICY, Limiter, type RetryPolicy } from "./retry.js";
import { Rules } from "./rules.js";
import { Signer } from "./signing.js";
import { checkNames, ROOT, targetOf } from "./targets.js";
import {
  MAX_FILE_BYTES,
  type Received,
  type Retry,
  type Sending,
  Transport,
  type TransportOptions,
} from "./transport.js";
import type {
  Agent, Report, ReportFilters, ReportTicketFilters, ServerTime, Team, TestClock, Ticket, WhoAmI,
} from "./types.js";

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

export class Desk {
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
  readonly #transport: Transport;

  /** Throws InvalidConfiguration. transport: of another desk, for `withOptions`. */
  constructor(options: DeskOptions | { transport: Transport }) {
    this.#transport = "transport" in options ? options.transport : transportOf(options);
    this.tickets = new Tickets(this.#transport);
    this.replies = new Replies(this.#transport);
    this.customers = new Customers(this.#transport);
    this.followers = new Followers(this.#transport);
    this.links = new Links(this.#transport);
    this.participants = new Participants(this.#transport);
    this.attachments = new Attachments(this.#transport);
    this.webhooks = new Webhooks(this.#transport);
    this.rules = new Rules(this.#transport);
    this.events = new Events(this.#transport);
  }

  /** Reads SEALDESK_API_KEY, SEALDESK_API_SECRET and SEALDESK_API_URL. */
  static fromEnvironment(options: Partial<DeskOptions> = {}): Desk {
    return new Desk({
      apiKey: environmentOf("SEALDESK_API_KEY"),
      apiSecret: environmentOf("SEALDESK_API_SECRET"),
      baseUrl: environmentOf("SEALDESK_API_URL"),
      ...options,
    });
  }

  /** The same desk with other options, for one call or many; the rate limit stays shared. */
  withOptions(options: CallOptions): Desk {
    checkNames(options, ["timeoutMs", "deadlineMs", "signal", "retry", "onRetry"]);
    checkOptions(options);
    const { retry, ...others } = options;
    const policy = retry === undefined ? {} : { policy: { ...DEFAULT_POLICY, ...retry } };
    return new Desk({ transport: this.#transport.with({ ...others, ...policy }) });
  }

  /**
   * Signs with these from now on, as after a rotation; so do the desks of `withOptions`. Throws
   * InvalidConfiguration.
   */
  useCredentials(apiKey: string, apiSecret: string): void {
    this.#transport.signer.useCredentials(apiKey, apiSecret);
  }

  /** Later calls, those of the desks of `withOptions` too, throw InvalidConfiguration. */
  close(): void {
    this.#transport.close();
  }

  /** The URL of the service, without a trailing slash. */
  get baseUrl(): string {
    return this.#transport.baseUrl;
  }

  /** What the service knows of the key: a good first request. */
  async whoami(): Promise<WhoAmI> {
    return (await this.#transport.json({ method: "GET", target: `${ROOT}/whoami` })).data;
  }

  /** The time of the test tenant; for keys that begin with tk_test_. */
  async testClock(): Promise<TestClock> {
    return (await this.#transport.json({ method: "GET", target: `${ROOT}/test-clock` })).data;
  }

  /** Sets the clock of the test tenant ahead, to a time or by a number of seconds. */
  async setTestClock(change: { now: string } | { advance_s: number }): Promise<TestClock> {
    return (await this.#transport.json({ method: "PUT", target: `${ROOT}/test-clock`, ...jsonOf(change) })).data;
  }

  /** The users to whom tickets can be assigned. */
  agents(options: ListOptions = {}): Pages<Agent> {
    return this.list(`${ROOT}/agents`, {}, options);
  }

  /** The teams to which tickets can be given. */
  teams(options: ListOptions = {}): Pages<Team> {
    return this.list(`${ROOT}/teams`, {}, options);
  }

  /** What happened to tickets in a period, by default this week, and in the one before. */
  async report(filters: ReportFilters = {}): Promise<Report> {
    const target = targetOf(`${ROOT}/reports`, filters);
    return (await this.#transport.json({ method: "GET", target })).data;
  }

  /** The tickets behind a figure of a report, the latest first. */
  reportTickets(filters: ReportTicketFilters = {}, options: ListOptions = {}): Pages<Ticket> {
    return this.list(`${ROOT}/reports/tickets`, filters, options);
  }

  /** The time of the service. */
  async time(): Promise<ServerTime> {
    return (await this.#transport.json({ method: "GET", target: "/api/v1/time" })).data;
  }

  /** The rows of any list, also of one that this version of the client does not know. */
  list<T>(path: string, query: object = {}, options: ListOptions = {}): Pages<T> {
    checkNames(options, ["cursor"]);
    const { cursor } = options;
    const read = (at: string | undefined) =>
      readPageOf<T>(this.#transport, path, { per_page: 100, ...query, cursor: at });
    return new Pages(read, cursor);
  }

  /**
   * A signed request to any path, and the response, whatever its status. target: path and query,
   * percent-encoded. A POST gets an Idempotency-Key. A response of more than 64 MiB is refused.
   */
  request(
    method: string,
    target: string,
    body: string | Bytes = "",
    headers: Record<string, string> = {},
  ): Promise<Received> {
    const verb = method.toUpperCase();
    const bytes = typeof body === "string" ? utf8(body) : body;
    const own: Record<string, string> = {};
    if (bytes.length > 0) own["content-type"] = "application/json";
    if (verb === "POST") own["idempotency-key"] = crypto.randomUUID();
    for (const [name, value] of Object.entries(headers)) own[name.toLowerCase()] = value;
    const maxBytes = MAX_FILE_BYTES;
    const sending: Sending = { method: verb, target, body: bytes, headers: own, maxBytes };
    return this.#transport.send(sending);
  }
}

const MAX_TIMEOUT_MS = 1e9; // timers take no more than 2³¹

function checkOptions({ timeoutMs = 1, deadlineMs = 1, signal, retry = {}, onRetry }: CallOptions): void {
  if (!(typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs < MAX_TIMEOUT_MS)) {
    throw new InvalidConfiguration(`timeoutMs must be a number above 0, not ${timeoutMs}`);
  }
  if (!(typeof deadlineMs === "number" && deadlineMs > 0)) {
    throw new InvalidConfiguration(`deadlineMs must be a number above 0, not ${deadlineMs}`);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidConfiguration(`signal must be an AbortSignal, not ${String(signal)}`);
  }
  if (onRetry !== undefined && typeof onRetry !== "function") {
    throw new InvalidConfiguration(`onRetry must be a function, not ${String(onRetry)}`);
  }
  if (typeof retry !== "object" || retry === null) {
    throw new InvalidConfiguration(`retry must be an object, not ${String(retry)}`);
  }
  checkNames(retry, Object.keys(DEFAULT_POLICY));
  for (const [name, value] of Object.entries(retry)) {
    if (typeof value === "number" && value >= 0) continue;
    throw new InvalidConfiguration(`retry.${name} must be a number from 0, not ${String(value)}`);
  }
}

const NAMES = [
  "apiKey", "apiSecret", "baseUrl", "timeoutMs", "retry", "fetch", "sleep", "random", "now", "warn",
  "showsSignedMessage",
];

function transportOf(options: DeskOptions): Transport {
  checkNames(options, NAMES);
  checkOptions({ timeoutMs: options.timeoutMs ?? 1, retry: options.retry ?? {} });
  for (const name of ["fetch", "sleep", "random", "now", "warn"] as const) {
    if (options[name] === undefined || typeof options[name] === "function") continue;
    throw new InvalidConfiguration(`${name} must be a function, not ${String(options[name])}`);
  }
  if (typeof (options.showsSignedMessage ?? true) !== "boolean") {
    throw new InvalidConfiguration(
      `showsSignedMessage must be true or false, not ${String(options.showsSignedMessage)}`,
    );
  }
  const signer = new Signer(options.apiKey, options.apiSecret, options.now);
  const transport: TransportOptions = {
    policy: { ...DEFAULT_POLICY, ...options.retry },
    timeoutMs: options.timeoutMs ?? 30_000,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    sleep: options.sleep ?? ((s) => new Promise((done) => setTimeout(done, s * 1000))),
    random: options.random ?? Math.random,
    warn: options.warn ?? ((text) => console.warn(text)),
    showsSignedMessage: options.showsSignedMessage ?? true,
    limiter: new Limiter(),
    state: { isClosed: false },
  };
  return new Transport(checkUrl(options.baseUrl), signer, transport);
}

function environmentOf(name: string): string {
  const scope = globalThis as { process?: { env: Record<string, string | undefined> } };
  const value = scope.process?.env[name];
  if (!value) throw new InvalidConfiguration(`the environment variable ${name} is not set`);
  return value;
}
