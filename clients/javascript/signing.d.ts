/** Signs requests, each with a signature of its own. */
import { type Bytes } from "./bytes.js";
/** Of one attempt, while other processes use the same ones. */
export declare const MAX_SIGNATURES = 10;
export interface SignatureHeaders {
    "x-api-key": string;
    "x-api-timestamp": string;
    "x-api-signature": string;
    /** What was signed, in Base64. */
    "x-api-signed-message"?: string;
}
/** What is signed: timestamp, METHOD, path with query, and the hash of the body. */
export declare function messageOf(timestamp: string, method: string, target: string, bodySha256: string): string;
/**
 * Signs with a timestamp that these bytes have not had: equal requests within one second would have
 * equal signatures, which replay protection refuses. So the second is signed for the next second.
 */
export declare class Signer {
    #private;
    /** What the clock of this machine is behind the service, once the service has said so. */
    offsetS: number;
    /** now: milliseconds since 1970. Throws InvalidConfiguration. */
    constructor(apiKey: string, apiSecret: string, now?: () => number);
    /** Signs with these from now on. Throws InvalidConfiguration. */
    useCredentials(apiKey: string, apiSecret: string): void;
    /**
     * The headers of a request that is sent now. Undefined if a write has used all timestamps that
     * the service accepts: wait, and sign again. Reads then repeat one, which no service refuses.
     * share: a number from 0 to 1 that chooses one of all timestamps that the service accepts, when
     * another process signs the same. showsMessage: with the message that is signed, if it has at
     * most 4 KiB, so that the service can show the first difference.
     */
    sign(method: string, target: string, body: Bytes, share?: number, showsMessage?: boolean): Promise<SignatureHeaders | undefined>;
    /** Whether the clock of this machine is too far from the time of the service to be corrected. */
    isTooFar(serverTimeS: number): boolean;
    /** Sign with the time of the service from now on; false if it is over a day away. */
    correctClock(serverTimeS: number): boolean;
}
