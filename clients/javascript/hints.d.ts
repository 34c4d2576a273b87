/** What the client itself can say about a refusal: it knows what it sent. */
import type { Problem } from "./errors.js";
/**
 * A sentence for people, or nothing. url: of the request as it was sent. isTooFar: whether the
 * clock of this machine is too far from that of the service to be corrected.
 */
export declare function hintFor(problem: Problem, url: URL, method: string, isTooFar: boolean): string;
/** What to look at when no response arrived. reason: the code or message of the failure. */
export declare function adviceFor(reason: string): string;
