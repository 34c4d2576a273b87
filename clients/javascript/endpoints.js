/** The webhooks of a desk, which its API key manages. */
import { Resource } from "./resources.js";
import { ROOT, segment } from "./targets.js";
const TEST_MS = 30_000; // the service waits for the response of the receiver
export class Webhooks extends Resource {
    list(options = {}) {
        return this.listRows(`${ROOT}/webhooks`, {}, options);
    }
    get(id) {
        return this.getData(pathOf(id));
    }
    /** Creates a webhook. Its secret is in the result, and never shown again; logs and JSON omit it. */
    async create(fields) {
        return hideSecret(await this.postOnce(`${ROOT}/webhooks`, fields));
    }
    update(id, fields) {
        return this.patchFields(pathOf(id), fields, {});
    }
    delete(id) {
        return this.deleteAt(pathOf(id));
    }
    /** Gives a webhook a new secret, as `create` does; the old one also signs for a while. */
    async rotateSecret(id) {
        return hideSecret(await this.postOnce(`${pathOf(id)}/rotate-secret`));
    }
    /** Sends a test event, and returns what the receiver responded. */
    test(id) {
        return this.postOnce(`${pathOf(id)}/test`, undefined, TEST_MS);
    }
    /** The deliveries of a webhook, newest first. */
    deliveries(id, filters = {}, options = {}) {
        return this.listRows(`${pathOf(id)}/deliveries`, filters, options);
    }
    /** A delivery with its attempts. */
    delivery(id, deliveryId) {
        return this.getData(`${pathOf(id)}/deliveries/${segment(deliveryId)}`);
    }
    /** Sends the event of a delivery again. */
    redeliver(id, deliveryId) {
        return this.postOnce(`${pathOf(id)}/deliveries/${segment(deliveryId)}/redeliver`);
    }
    /** Sends the events of deliveries again that have failed since then. */
    redeliverFailed(id, fields) {
        return this.postOnce(`${pathOf(id)}/redeliver-failed`, fields);
    }
    /** Makes the next attempts of all waiting deliveries now. */
    retryNow(id) {
        return this.postOnce(`${pathOf(id)}/retry-now`);
    }
    /** Sends all events of a time span again. */
    replay(id, fields) {
        return this.postOnce(`${pathOf(id)}/replay`, fields);
    }
    replays(id, options = {}) {
        return this.listRows(`${pathOf(id)}/replays`, {}, options);
    }
}
function hideSecret(endpoint) {
    return Object.defineProperty(endpoint, "secret", { enumerable: false });
}
function pathOf(id) {
    return `${ROOT}/webhooks/${segment(id)}`;
}
