/** Signs requests, each with a signature of its own. */

import { type Bytes, hmacHex, importKey, sha256Hex, utf8 } from "./bytes.js";
import { checkCredentials } from "./credentials.js";

/** The service accepts 300 s on both sides; the rest is for the way and the clocks. */
const MAX_AHEAD_S = 240;
const REMEMBERED_S = 600;
/** Whoever answers in place of the service could otherwise collect signatures of next year. */
const MAX_CORRECTION_S = 24 * 3600;
/** Of a signed message, which the service reads. */
const MAX_SHOWN_BYTES = 4096;
/** Of one attempt, while other processes use the same ones. */
export const MAX_SIGNATURES = 10;

export interface SignatureHeaders {
  "x-api-key": string;
  "x-api-timestamp": string;
  "x-api-signature": string;
  /** What was signed, in Base64. */
  "x-api-signed-message"?: string;
}

/** What is signed: timestamp, METHOD, path with query, and the hash of the body. */
export function messageOf(
  timestamp: string,
  method: string,
  target: string,
  bodySha256: string,
): string {
  return timestamp + method + target + bodySha256;
}

/**
 * Signs with a timestamp that these bytes have not had: equal requests within one second would have
 * equal signatures, which replay protection refuses. So the second is signed for the next second.
 */
export class Signer {
  /** What the clock of this machine is behind the service, once the service has said so. */
  offsetS = 0;
  #credentials: { apiKey: string; key: Promise<CryptoKey> };
  readonly #now: () => number;
  /** Method, target and hash of the body → timestamp, the oldest first. */
  readonly #last = new Map<string, number>();

  /** now: milliseconds since 1970. Throws InvalidConfiguration. */
  constructor(apiKey: string, apiSecret: string, now: () => number = Date.now) {
    this.#credentials = credentialsOf(apiKey, apiSecret);
    this.#now = now;
  }

  /** Signs with these from now on. Throws InvalidConfiguration. */
  useCredentials(apiKey: string, apiSecret: string): void {
    this.#credentials = credentialsOf(apiKey, apiSecret);
  }

  /**
   * The headers of a request that is sent now. Undefined if a write has used all timestamps that
   * the service accepts: wait, and sign again. Reads then repeat one, which no service refuses.
   * share: a number from 0 to 1 that chooses one of all timestamps that the service accepts, when
   * another process signs the same. showsMessage: with the message that is signed, if it has at
   * most 4 KiB, so that the service can show the first difference.
   */
  async sign(
    method: string,
    target: string,
    body: Bytes,
    share?: number,
    showsMessage = false,
  ): Promise<SignatureHeaders | undefined> {
    const bodySha256 = await sha256Hex(body);
    let timestamp =
      share === undefined
        ? this.#takeTimestamp(messageOf("", method, target, bodySha256))
        : this.#nowS() + Math.round((2 * share - 1) * MAX_AHEAD_S);
    if (timestamp === undefined) {
      if (method !== "GET" && method !== "HEAD") return undefined;
      timestamp = this.#nowS();
    }
    const message = messageOf(String(timestamp), method, target, bodySha256);
    const { apiKey, key } = this.#credentials; // a pair, also when it is replaced meanwhile
    const headers: SignatureHeaders = {
      "x-api-key": apiKey,
      "x-api-timestamp": String(timestamp),
      "x-api-signature": await hmacHex(await key, message),
    };
    if (showsMessage && message.length <= MAX_SHOWN_BYTES) {
      headers["x-api-signed-message"] = btoa(message); // `URL` has made the target ASCII
    }
    return headers;
  }

  /** Whether the clock of this machine is too far from the time of the service to be corrected. */
  isTooFar(serverTimeS: number): boolean {
    return Math.abs(serverTimeS - Math.floor(this.#now() / 1000)) > MAX_CORRECTION_S;
  }

  /** Sign with the time of the service from now on; false if it is over a day away. */
  correctClock(serverTimeS: number): boolean {
    if (this.isTooFar(serverTimeS)) return false;
    this.offsetS = serverTimeS - Math.floor(this.#now() / 1000);
    // What was signed with the wrong time was refused, so it need not be remembered.
    for (const [key, at] of this.#last) {
      if (at >= serverTimeS + MAX_AHEAD_S) this.#last.delete(key);
    }
    return true;
  }

  #nowS(): number {
    return Math.floor(this.#now() / 1000) + this.offsetS;
  }

  #takeTimestamp(key: string): number | undefined {
    const nowS = this.#nowS();
    const last = this.#last.get(key) ?? 0;
    const timestamp = Math.max(nowS, last + 1);
    const isNear = timestamp < nowS + MAX_AHEAD_S;
    this.#last.delete(key);
    this.#last.set(key, isNear ? timestamp : last);
    this.#forget(nowS);
    return isNear ? timestamp : undefined;
  }

  /** Deletes what has expired among the oldest two: each call adds at most one. */
  #forget(nowS: number): void {
    let looked = 0;
    for (const [key, at] of this.#last) {
      if (at < nowS - REMEMBERED_S) this.#last.delete(key);
      if (++looked === 2) return;
    }
  }
}

function credentialsOf(apiKey: string, apiSecret: string): { apiKey: string; key: Promise<CryptoKey> } {
  checkCredentials(apiKey, apiSecret);
  return { apiKey, key: importKey(utf8(apiSecret)) };
}
