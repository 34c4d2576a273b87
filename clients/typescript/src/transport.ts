/** Sends signed requests: signs every attempt, retries, corrects the clock, reads responses. */

import type { Bytes } from "./bytes.js";
import { classOfCode } from "./errorCodes.js";
import {
  ConnectionFailed, InvalidConfiguration, type Problem, SealdeskError, UnexpectedResponse,
} from "./errors.js";
import { adviceFor, hintFor } from "./hints.js";
import * as retry from "./retry.js";
import { MAX_SIGNATURES, type Signer } from "./signing.js";

const VERSION = "0.1.0";
const MAX_JSON_BYTES = 16 * 1024 * 1024;
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

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
  state: { isClosed: boolean };
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

const RESPONSES = new WeakMap<object, ResponseInfo>();

/**
 * The response of a result that a method has returned, or of the `data` of a page: its ETag, its
 * request id and its other headers, such as `ratelimit` and `x-warnings`. undefined for other objects.
 */
export function responseOf(result: object): ResponseInfo | undefined {
  return RESPONSES.get(result);
}

/** What `responseOf` finds its response by. */
export function withResponse<T extends object>(result: T, { status, headers }: Received): T {
  const etag = headers.get("etag") ?? undefined;
  const requestId = headers.get("x-request-id") ?? undefined;
  RESPONSES.set(result, { status, headers, etag, requestId });
  return result;
}

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

type Outcome = { received: Received } | { error: unknown };

export class Transport {
  constructor(
    readonly baseUrl: string,
    readonly signer: Signer,
    private readonly options: TransportOptions,
  ) {}

  /** The same one with other options; the signatures and the rate limit stay shared. */
  with(options: Partial<TransportOptions>): Transport {
    return new Transport(this.baseUrl, this.signer, { ...this.options, ...options });
  }

  /** Refuses further attempts, also of those that have other options. */
  close(): void {
    this.options.state.isClosed = true;
  }

  /** The JSON of a 2xx response. Throws SealdeskError. */
  async json(sending: Sending): Promise<any> {
    const received = await this.success(sending);
    const parsed = parse(received.body) as { data?: unknown; meta?: unknown } | undefined;
    const isList = sending.isList ?? false;
    const isKnown = Array.isArray(parsed?.data) === isList && isObject(parsed?.data);
    if (!isKnown || (isList && !isObject(parsed?.meta))) throw this.#unexpected(received);
    checkResource(sending.resourceId, parsed!.data as { id?: unknown });
    withResponse(parsed!.data as object, received);
    return parsed;
  }

  /** A 2xx response. Throws SealdeskError. */
  async success(sending: Sending): Promise<Received> {
    const received = await this.send(sending);
    if (received.status >= 200 && received.status < 300) return received;
    const problem = problemOf(received);
    if (problem === undefined) throw this.#unexpected(received);
    const retryAfterS = retry.readRetryAfterS(received.headers, Date.now());
    const isTooFar = this.signer.isTooFar(Number(problem["server_time"]));
    const hint = hintFor(problem, this.#urlOf(sending), sending.method, isTooFar);
    const kind = classOfCode(problem.code, received.status);
    throw new kind(received.status, problem, retryAfterS, hint);
  }

  /** The response, whatever its status. Throws ConnectionFailed if none arrives. */
  async send(given: Sending): Promise<Received> {
    const sending = { ...given, signal: anyOf(given.signal, this.options.signal) };
    const call = new retry.Call(this.options.policy, this.options.limiter, this.options.deadlineMs);
    const heldS = this.options.limiter.pauseS;
    if (heldS > 0 && call.waitsForLimit(heldS)) await this.sleep(heldS, sending.signal);
    const headers = new Headers({ accept: "application/json", ...sending.headers });
    headers.set("user-agent", `sealdesk-typescript/${VERSION}`);
    const repeatable =
      sending.isRepeatable !== false && retry.isRepeatable(sending.method, headers);
    let isClockCorrected = false;
    let replays = 0;
    let showsMessage = false;
    for (;;) {
      const outcome = await this.#attempt(sending, call, headers, replays > 0, showsMessage);
      // The refused request had no effect, so it is always sent again with another signature.
      if (codeOf(outcome) === "signature_replayed" && replays < MAX_SIGNATURES) {
        replays += 1;
        continue;
      }
      const isRefused = codeOf(outcome) === "invalid_signature";
      if (isRefused && this.options.showsSignedMessage && !showsMessage) {
        showsMessage = true;
        continue;
      }
      if (!isClockCorrected && this.#correctClock(outcome)) {
        isClockCorrected = true;
        continue;
      }
      const pauseS = this.#pauseS(outcome, call, repeatable, sending.signal);
      if (pauseS !== undefined) {
        const { method, target } = sending;
        this.options.onRetry?.({ method, target, reason: reasonOf(outcome), pauseS });
        await this.sleep(pauseS, sending.signal);
      } else if ("received" in outcome) return outcome.received;
      else throw this.#connectionFailed(outcome.error, sending.signal);
    }
  }

  /** Waits, unless the caller gives up. */
  async sleep(seconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, reject } = deferred();
    const stop = () => reject(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      await Promise.race([this.options.sleep(seconds), promise]);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  async #attempt(
    sending: Sending,
    call: retry.Call,
    headers: Headers,
    isReplayed: boolean,
    showsMessage: boolean,
  ): Promise<Outcome> {
    if (this.options.state.isClosed) {
      throw new InvalidConfiguration("this desk is closed: make another one");
    }
    const url = this.#urlOf(sending);
    const body = sending.body ?? new Uint8Array();
    // As fetch sends it: `URL` has encoded what a path or query may not contain.
    const target = url.pathname + url.search;
    const share = isReplayed ? this.options.random() : undefined;
    let signature = await this.signer.sign(sending.method, target, body, share, showsMessage);
    while (signature === undefined) {
      await this.sleep(1, sending.signal);
      signature = await this.signer.sign(sending.method, target, body, undefined, showsMessage);
    }
    const timeoutMs = call.boundMs(this.options.timeoutMs + (sending.extraMs ?? 0));
    const signal = anyOf(AbortSignal.timeout(timeoutMs), sending.signal);
    const signed = new Headers(headers);
    for (const [name, value] of Object.entries(signature)) signed.set(name, value);
    try {
      const response = await this.options.fetch(url, {
        method: sending.method,
        headers: signed,
        ...(body.length > 0 ? { body } : {}),
        redirect: "manual",
        ...(signal ? { signal } : {}),
      });
      const read = await readBody(response, sending.maxBytes ?? MAX_JSON_BYTES);
      return { received: { status: response.status, headers: response.headers, body: read } };
    } catch (error) {
      return { error };
    }
  }

  #urlOf(sending: Sending): URL {
    if (!sending.target.startsWith("/")) {
      throw new SealdeskError("a target begins with /, such as /api/v1/external/whoami");
    }
    return new URL(this.baseUrl + sending.target);
  }

  #correctClock(outcome: Outcome): boolean {
    if (!("received" in outcome) || outcome.received.status !== 401) return false;
    const problem = problemOf(outcome.received);
    const serverTime = Number(problem?.["server_time"]);
    if (problem?.code !== "timestamp_out_of_range" || !Number.isSafeInteger(serverTime)) {
      return false;
    }
    if (!this.signer.correctClock(serverTime)) return false;
    const offsetS = this.signer.offsetS;
    const where = offsetS > 0 ? "behind" : "ahead of";
    this.options.warn(
      `sealdesk: the clock of this machine is ${Math.abs(offsetS)} s ${where} the service's;` +
        " requests are now signed with the time of the service. Set the clock of this machine.",
    );
    return true;
  }

  #pauseS(
    outcome: Outcome,
    call: retry.Call,
    repeatable: boolean,
    signal: AbortSignal | undefined,
  ): number | undefined {
    const share = this.options.random();
    if ("received" in outcome) {
      const { status, headers } = outcome.received;
      if (!retry.isTemporary(status, codeOf(outcome), repeatable)) return undefined;
      const retryAfterS = retry.readRetryAfterS(headers, Date.now());
      const isLimit = status === 429 && retryAfterS !== undefined;
      return isLimit ? call.limitedS(retryAfterS, share) : call.failedS(retryAfterS, share);
    }
    if (signal?.aborted || outcome.error instanceof SealdeskError) return undefined;
    if (!repeatable && !retry.wasNotSent(outcome.error)) return undefined;
    return call.failedS(undefined, share);
  }

  #connectionFailed(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof SealdeskError) return error;
    const { cause } = error as { cause?: { code?: string; message?: string } };
    const reason = cause?.code || cause?.message || (error as Error).message;
    return new ConnectionFailed(
      `no response from ${this.baseUrl}: ${reason}; ${adviceFor(reason)}`,
      { cause: error },
    );
  }

  #unexpected(received: Received): UnexpectedResponse {
    const { status, headers } = received;
    // Its query may repeat what was sent.
    const place = headers.get("location")?.split("?")[0];
    const kind = headers.get("content-type")?.split(";")[0] ?? "no content";
    const what = place
      ? `a redirect to ${place.slice(0, 200)}, which is not followed because a signature is valid` +
        " for one address: use the final address as baseUrl"
      : `${kind} that is not of Sealdesk: is baseUrl right, and does a proxy or the log-in page of` +
        " a network answer in its place?";
    return new UnexpectedResponse(`${status} from ${this.baseUrl}: ${what}`, status);
  }
}

function anyOf(...signals: (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((each) => each !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function checkResource(resourceId: string | undefined, data: { id?: unknown }): void {
  const found = String(data.id);
  if (resourceId === undefined || found.toLowerCase() === resourceId.toLowerCase()) return;
  throw new UnexpectedResponse(
    `the response is about ${found.slice(0, 100)}, which was not asked for: does a proxy mix up` +
      " connections?",
    200,
  );
}

function reasonOf(outcome: Outcome): string {
  if ("received" in outcome) return String(outcome.received.status);
  const { cause, name } = outcome.error as { cause?: { code?: string }; name?: string };
  return cause?.code ?? name ?? "error";
}

function problemOf(received: Received): Problem | undefined {
  const parsed = parse(received.body);
  const isProblem = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
  return isProblem && typeof (parsed as Problem).code === "string" ? (parsed as Problem) : undefined;
}

/** The code of the problem of a refusal; undefined of everything else. */
function codeOf(outcome: Outcome): string | undefined {
  if (!("received" in outcome) || ![401, 409].includes(outcome.received.status)) return undefined;
  return problemOf(outcome.received)?.code;
}

function parse(body: Bytes): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

async function readBody(response: Response, maxBytes: number): Promise<Bytes> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (const reader = response.body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > maxBytes) {
      await reader.cancel();
      const text = `the response is larger than ${maxBytes} bytes, so it was not read`;
      throw new UnexpectedResponse(text, response.status);
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function deferred(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject!: (reason: unknown) => void;
  const promise = new Promise<never>((_, refuse) => (reject = refuse));
  promise.catch(() => undefined);
  return { promise, reject };
}
