/** Verifies webhooks: Standard Webhooks, with every signature of the header and the age checked. */
import { fromBase64, importKey, utf8 } from "./bytes.js";
import { InvalidConfiguration, InvalidWebhook } from "./errors.js";
const TOLERANCE_S = 300;
const SECRET_BYTES = 32;
const MAX_SIGNATURES = 20;
export class Webhook {
    #keys;
    #now;
    /**
     * secrets: `whsec_…` of the endpoint, or several. now: milliseconds since 1970.
     * Throws InvalidConfiguration.
     */
    constructor(secrets, now = Date.now) {
        const list = typeof secrets === "string" ? [secrets] : secrets;
        this.#keys = Promise.all(list.map((secret) => importKey(readSecret(secret))));
        this.#keys.catch(() => undefined); // each verification throws it
        this.#now = now;
        list.forEach(readSecret);
    }
    /** The event. body: as received, before anything parses it. Throws InvalidWebhook. */
    async verify(body, headers) {
        const id = find(headers, "webhook-id");
        const timestamp = find(headers, "webhook-timestamp");
        if (!/^\d{1,12}$/.test(timestamp)) {
            throw new InvalidWebhook("webhook-timestamp is not in whole seconds");
        }
        const bytes = typeof body === "string" ? utf8(body) : body;
        const prefix = utf8(`${id}.${timestamp}.`);
        const message = new Uint8Array(prefix.length + bytes.length);
        message.set(prefix);
        message.set(bytes, prefix.length);
        if (!(await this.#isSigned(message, find(headers, "webhook-signature")))) {
            throw new InvalidWebhook("webhook-signature does not fit: is the secret that of this endpoint, and the body as" +
                " received, before it was parsed?");
        }
        if (Math.abs(this.#now() / 1000 - Number(timestamp)) > TOLERANCE_S) {
            throw new InvalidWebhook("webhook-timestamp is more than five minutes from this machine's time");
        }
        return JSON.parse(new TextDecoder().decode(bytes));
    }
    async #isSigned(message, header) {
        const keys = await this.#keys;
        for (const part of header.split(" ").slice(0, MAX_SIGNATURES)) {
            const signature = part.startsWith("v1,") ? fromBase64(part.slice(3)) : undefined;
            if (signature === undefined)
                continue;
            // crypto.subtle.verify compares in constant time.
            for (const key of keys) {
                if (await crypto.subtle.verify("HMAC", key, signature, message))
                    return true;
            }
        }
        return false;
    }
}
function readSecret(secret) {
    const bytes = secret.startsWith("whsec_") ? fromBase64(secret.slice(6)) : undefined;
    if (bytes?.length !== SECRET_BYTES) {
        throw new InvalidConfiguration("the secret of a webhook is whsec_ and 44 characters of Base64");
    }
    return bytes;
}
function find(headers, name) {
    let value;
    if (headers instanceof Headers)
        value = headers.get(name);
    else {
        const found = Object.keys(headers).find((each) => each.toLowerCase() === name);
        value = found === undefined ? undefined : headers[found];
    }
    if (typeof value !== "string" || value === "")
        throw new InvalidWebhook(`${name} is missing`);
    return value;
}
