/** The webhooks of a desk, which its API key manages. */
import type { Pages } from "./pages.js";
import { type Done, type ListOptions, Resource } from "./resources.js";
import type * as types from "./types.js";
export declare class Webhooks extends Resource {
    list(options?: ListOptions): Pages<types.Endpoint>;
    get(id: string): Promise<types.Endpoint>;
    /** Creates a webhook. Its secret is in the result, and never shown again; logs and JSON omit it. */
    create(fields: types.NewEndpoint): Promise<types.EndpointWithSecret>;
    update(id: string, fields: types.EndpointChange): Promise<types.Endpoint>;
    delete(id: string): Promise<Done>;
    /** Gives a webhook a new secret, as `create` does; the old one also signs for a while. */
    rotateSecret(id: string): Promise<types.EndpointWithSecret>;
    /** Sends a test event, and returns what the receiver responded. */
    test(id: string): Promise<types.DeliveryWithAttempts>;
    /** The deliveries of a webhook, newest first. */
    deliveries(id: string, filters?: types.DeliveryFilters, options?: ListOptions): Pages<types.Delivery>;
    /** A delivery with its attempts. */
    delivery(id: string, deliveryId: string): Promise<types.DeliveryWithAttempts>;
    /** Sends the event of a delivery again. */
    redeliver(id: string, deliveryId: string): Promise<types.Delivery>;
    /** Sends the events of deliveries again that have failed since then. */
    redeliverFailed(id: string, fields: {
        since: string;
    }): Promise<types.Restarted>;
    /** Makes the next attempts of all waiting deliveries now. */
    retryNow(id: string): Promise<types.Restarted>;
    /** Sends all events of a time span again. */
    replay(id: string, fields: {
        since: string;
        until: string;
    }): Promise<types.Replay>;
    replays(id: string, options?: ListOptions): Pages<types.Replay>;
}
