/** The webhooks of a desk, which its API key manages. */

import type { Pages } from "./pages.js";
import { type Done, type ListOptions, Resource } from "./resources.js";
import { ROOT, segment } from "./targets.js";
import type * as types from "./types.js";

const TEST_MS = 30_000; // the service waits for the response of the receiver

export class Webhooks extends Resource {
  list(options: ListOptions = {}): Pages<types.Endpoint> {
    return this.listRows(`${ROOT}/webhooks`, {}, options);
  }

  get(id: string): Promise<types.Endpoint> {
    return this.getData(pathOf(id));
  }

  /** Creates a webhook. Its secret is in the result, and never shown again; logs and JSON omit it. */
  async create(fields: types.NewEndpoint): Promise<types.EndpointWithSecret> {
    return hideSecret(await this.postOnce(`${ROOT}/webhooks`, fields));
  }

  update(id: string, fields: types.EndpointChange): Promise<types.Endpoint> {
    return this.patchFields(pathOf(id), fields, {});
  }

  delete(id: string): Promise<Done> {
    return this.deleteAt(pathOf(id));
  }

  /** Gives a webhook a new secret, as `create` does; the old one also signs for a while. */
  async rotateSecret(id: string): Promise<types.EndpointWithSecret> {
    return hideSecret(await this.postOnce(`${pathOf(id)}/rotate-secret`));
  }

  /** Sends a test event, and returns what the receiver responded. */
  test(id: string): Promise<types.DeliveryWithAttempts> {
    return this.postOnce(`${pathOf(id)}/test`, undefined, TEST_MS);
  }

  /** The deliveries of a webhook, newest first. */
  deliveries(
    id: string,
    filters: types.DeliveryFilters = {},
    options: ListOptions = {},
  ): Pages<types.Delivery> {
    return this.listRows(`${pathOf(id)}/deliveries`, filters, options);
  }

  /** A delivery with its attempts. */
  delivery(id: string, deliveryId: string): Promise<types.DeliveryWithAttempts> {
    return this.getData(`${pathOf(id)}/deliveries/${segment(deliveryId)}`);
  }

  /** Sends the event of a delivery again. */
  redeliver(id: string, deliveryId: string): Promise<types.Delivery> {
    return this.postOnce(`${pathOf(id)}/deliveries/${segment(deliveryId)}/redeliver`);
  }

  /** Sends the events of deliveries again that have failed since then. */
  redeliverFailed(id: string, fields: { since: string }): Promise<types.Restarted> {
    return this.postOnce(`${pathOf(id)}/redeliver-failed`, fields);
  }

  /** Makes the next attempts of all waiting deliveries now. */
  retryNow(id: string): Promise<types.Restarted> {
    return this.postOnce(`${pathOf(id)}/retry-now`);
  }

  /** Sends all events of a time span again. */
  replay(id: string, fields: { since: string; until: string }): Promise<types.Replay> {
    return this.postOnce(`${pathOf(id)}/replay`, fields);
  }

  replays(id: string, options: ListOptions = {}): Pages<types.Replay> {
    return this.listRows(`${pathOf(id)}/replays`, {}, options);
  }
}

function hideSecret(endpoint: types.EndpointWithSecret): types.EndpointWithSecret {
  return Object.defineProperty(endpoint, "secret", { enumerable: false });
}

function pathOf(id: string): string {
  return `${ROOT}/webhooks/${segment(id)}`;
}
