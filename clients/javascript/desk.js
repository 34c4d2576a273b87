/** `Desk`: a tenant of Sealdesk, through the permissions of one API key. */
import { utf8 } from "./bytes.js";
import { checkUrl } from "./credentials.js";
import { Webhooks } from "./endpoints.js";
import { InvalidConfiguration } from "./errors.js";
import { Pages } from "./pages.js";
import { Attachments, Customers, Events, Followers, Links, Participants, jsonOf, readPageOf, Replies, Tickets, } from "./resources.js";
import { DEFAULT_POLICY, Limiter } from "./retry.js";
import { Rules } from "./rules.js";
import { Signer } from "./signing.js";
import { checkNames, ROOT, targetOf } from "./targets.js";
import { MAX_FILE_BYTES, Transport, } from "./transport.js";
export class Desk {
    tickets;
    replies;
    customers;
    followers;
    links;
    participants;
    attachments;
    webhooks;
    rules;
    events;
    #transport;
    /** Throws InvalidConfiguration. transport: of another desk, for `withOptions`. */
    constructor(options) {
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
    static fromEnvironment(options = {}) {
        return new Desk({
            apiKey: environmentOf("SEALDESK_API_KEY"),
            apiSecret: environmentOf("SEALDESK_API_SECRET"),
            baseUrl: environmentOf("SEALDESK_API_URL"),
            ...options,
        });
    }
    /** The same desk with other options, for one call or many; the rate limit stays shared. */
    withOptions(options) {
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
    useCredentials(apiKey, apiSecret) {
        this.#transport.signer.useCredentials(apiKey, apiSecret);
    }
    /** Later calls, those of the desks of `withOptions` too, throw InvalidConfiguration. */
    close() {
        this.#transport.close();
    }
    /** The URL of the service, without a trailing slash. */
    get baseUrl() {
        return this.#transport.baseUrl;
    }
    /** What the service knows of the key: a good first request. */
    async whoami() {
        return (await this.#transport.json({ method: "GET", target: `${ROOT}/whoami` })).data;
    }
    /** The time of the test tenant; for keys that begin with tk_test_. */
    async testClock() {
        return (await this.#transport.json({ method: "GET", target: `${ROOT}/test-clock` })).data;
    }
    /** Sets the clock of the test tenant ahead, to a time or by a number of seconds. */
    async setTestClock(change) {
        return (await this.#transport.json({ method: "PUT", target: `${ROOT}/test-clock`, ...jsonOf(change) })).data;
    }
    /** The users to whom tickets can be assigned. */
    agents(options = {}) {
        return this.list(`${ROOT}/agents`, {}, options);
    }
    /** The teams to which tickets can be given. */
    teams(options = {}) {
        return this.list(`${ROOT}/teams`, {}, options);
    }
    /** What happened to tickets in a period, by default this week, and in the one before. */
    async report(filters = {}) {
        const target = targetOf(`${ROOT}/reports`, filters);
        return (await this.#transport.json({ method: "GET", target })).data;
    }
    /** The tickets behind a figure of a report, the latest first. */
    reportTickets(filters = {}, options = {}) {
        return this.list(`${ROOT}/reports/tickets`, filters, options);
    }
    /** The time of the service. */
    async time() {
        return (await this.#transport.json({ method: "GET", target: "/api/v1/time" })).data;
    }
    /** The rows of any list, also of one that this version of the client does not know. */
    list(path, query = {}, options = {}) {
        checkNames(options, ["cursor"]);
        const { cursor } = options;
        const read = (at) => readPageOf(this.#transport, path, { per_page: 100, ...query, cursor: at });
        return new Pages(read, cursor);
    }
    /**
     * A signed request to any path, and the response, whatever its status. target: path and query,
     * percent-encoded. A POST gets an Idempotency-Key. A response of more than 64 MiB is refused.
     */
    request(method, target, body = "", headers = {}) {
        const verb = method.toUpperCase();
        const bytes = typeof body === "string" ? utf8(body) : body;
        const own = {};
        if (bytes.length > 0)
            own["content-type"] = "application/json";
        if (verb === "POST")
            own["idempotency-key"] = crypto.randomUUID();
        for (const [name, value] of Object.entries(headers))
            own[name.toLowerCase()] = value;
        const maxBytes = MAX_FILE_BYTES;
        const sending = { method: verb, target, body: bytes, headers: own, maxBytes };
        return this.#transport.send(sending);
    }
}
const MAX_TIMEOUT_MS = 1e9; // timers take no more than 2³¹
function checkOptions({ timeoutMs = 1, deadlineMs = 1, signal, retry = {}, onRetry }) {
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
        if (typeof value === "number" && value >= 0)
            continue;
        throw new InvalidConfiguration(`retry.${name} must be a number from 0, not ${String(value)}`);
    }
}
const NAMES = [
    "apiKey", "apiSecret", "baseUrl", "timeoutMs", "retry", "fetch", "sleep", "random", "now", "warn",
    "showsSignedMessage",
];
function transportOf(options) {
    checkNames(options, NAMES);
    checkOptions({ timeoutMs: options.timeoutMs ?? 1, retry: options.retry ?? {} });
    for (const name of ["fetch", "sleep", "random", "now", "warn"]) {
        if (options[name] === undefined || typeof options[name] === "function")
            continue;
        throw new InvalidConfiguration(`${name} must be a function, not ${String(options[name])}`);
    }
    if (typeof (options.showsSignedMessage ?? true) !== "boolean") {
        throw new InvalidConfiguration(`showsSignedMessage must be true or false, not ${String(options.showsSignedMessage)}`);
    }
    const signer = new Signer(options.apiKey, options.apiSecret, options.now);
    const transport = {
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
function environmentOf(name) {
    const scope = globalThis;
    const value = scope.process?.env[name];
    if (!value)
        throw new InvalidConfiguration(`the environment variable ${name} is not set`);
    return value;
}
