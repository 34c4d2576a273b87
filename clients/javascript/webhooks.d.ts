/** Verifies webhooks: Standard Webhooks, with every signature of the header and the age checked. */
import { type Bytes } from "./bytes.js";
import type { Event } from "./types.js";
/** The headers of a request: of fetch, of Node, or any object. */
export type HeadersLike = Headers | Readonly<Record<string, string | string[] | undefined>>;
export declare class Webhook {
    #private;
    /**
     * secrets: `whsec_…` of the endpoint, or several. now: milliseconds since 1970.
     * Throws InvalidConfiguration.
     */
    constructor(secrets: string | readonly string[], now?: () => number);
    /** The event. body: as received, before anything parses it. Throws InvalidWebhook. */
    verify(body: string | Bytes, headers: HeadersLike): Promise<Event>;
}
