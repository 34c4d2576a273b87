/** The resources of a desk: tickets, replies, customers, attachments and events. */

import { type Bytes, utf8 } from "./bytes.js";
import { InvalidConfiguration } from "./errors.js";
import { Feed, type FeedOptions } from "./feed.js";
import { type Page, Pages, readPage } from "./pages.js";
import { checkNames, ROOT, segment, targetOf } from "./targets.js";
import { MAX_FILE_BYTES, responseOf, type Sending, type Transport, withResponse } from "./transport.js";
import type * as types from "./types.js";

const PAGE_ROWS = 100; // the largest page of the service
/** What the service does not know is refused, not ignored. */
const JSON_HEADERS = { "content-type": "application/json", prefer: "handling=strict" };

/** What a method returns whose response has no members: `responseOf` has its headers. */
export type Done = Readonly<Record<string, never>>;

/** cursor: of the page to begin with. */
export interface ListOptions {
  cursor?: string | undefined;
}

/** idempotencyKey: of your own; otherwise each call has a new one for all its attempts. */
export interface PostOptions {
  idempotencyKey?: string;
}

/**
 * ifMatch: an ETag, or a result that was asked for by itself; the change is refused if the resource
 * has another one.
 */
export interface PatchOptions {
  ifMatch?: string | object;
}

export abstract class Resource {
  constructor(protected readonly transport: Transport) {}

  protected async dataOf<T>(sending: Sending): Promise<T> {
    return (await this.transport.json(sending)).data;
  }

  /** The resource whose id ends the path. */
  protected getData<T>(target: string): Promise<T> {
    return this.dataOf({ method: "GET", target, resourceId: idOf(target) });
  }

  protected listRows<T>(path: string, query: object, options: ListOptions): Pages<T> {
    checkNames(options, ["cursor"]);
    const { cursor } = options;
    const read = (at: string | undefined) =>
      readPageOf<T>(this.transport, path, { per_page: PAGE_ROWS, ...query, cursor: at });
    return new Pages(read, cursor);
  }

  protected postFields<T>(
    target: string,
    fields: object,
    options: PostOptions,
    resourceId?: string,
  ): Promise<T> {
    return this.dataOf({ ...postOf(target, jsonOf(fields).body, options), resourceId });
  }

  /** Of an action without an Idempotency-Key, so it is not repeated after a failure. */
  protected postOnce<T>(target: string, fields?: object, extraMs = 0): Promise<T> {
    const body = fields === undefined ? {} : jsonOf(fields);
    return this.dataOf({ method: "POST", target, extraMs, ...body });
  }

  protected async deleteAt(target: string, options: PatchOptions = {}): Promise<Done> {
    const headers = matchHeader(options);
    return withResponse({}, await this.transport.success({ method: "DELETE", target, headers }));
  }

  protected async patchFields<T>(target: string, fields: object, options: PatchOptions): Promise<T> {
    const headers = { ...JSON_HEADERS, ...matchHeader(options) };
    const { body } = jsonOf(fields);
    return this.dataOf({ method: "PATCH", target, body, headers, resourceId: idOf(target) });
  }
}

export class Tickets extends Resource {
  /** The tickets that match all filters, newest first. */
  list(filters: types.TicketFilters = {}, options: ListOptions = {}): Pages<types.Ticket> {
    return this.listRows(`${ROOT}/tickets`, filters, options);
  }

  /** The tickets with all words and filters of the inbox's search, such as `tag:vip kettle`. */
  search(q: string, options: ListOptions = {}): Pages<types.FoundTicket> {
    // Without it the newest tickets would be found.
    if (typeof q !== "string") throw new InvalidConfiguration(`q must be a text, not ${String(q)}`);
    return this.listRows(`${ROOT}/search`, { q }, options);
  }

  /** html: also with its description as safe HTML. include: its customer, its replies. */
  get(
    id: string,
    options: { html?: boolean; include?: readonly ("customer" | "replies")[] } = {},
  ): Promise<types.Ticket> {
    checkNames(options, ["html", "include"]);
    const { html, include } = options;
    return this.getData(targetOf(`${ROOT}/tickets/${segment(id)}`, { html, include }));
  }

  /** Opens a ticket. Its customer is found by e-mail address, or added. */
  create(fields: types.NewTicket, options: PostOptions = {}): Promise<types.Ticket> {
    return this.postFields(`${ROOT}/tickets`, fields, options);
  }

  update(
    id: string,
    fields: types.TicketChange,
    options: PatchOptions = {},
  ): Promise<types.Ticket> {
    return this.patchFields(`${ROOT}/tickets/${segment(id)}`, fields, options);
  }

  /** Opens up to 100 tickets. One that is refused stops no other: see refusedCount. */
  async bulkCreate(
    tickets: readonly types.NewTicket[],
    options: PostOptions = {},
  ): Promise<types.BulkResult> {
    const { body } = jsonOf({ tickets });
    const sending = { ...postOf(`${ROOT}/tickets/bulk`, body, options), isList: true };
    return bulkOf(await this.transport.json(sending));
  }

  /** Changes up to 100 tickets. One that is refused stops no other: see refusedCount. */
  async bulkUpdate(changes: readonly types.IdentifiedChange[]): Promise<types.BulkResult> {
    // With an ETag, a second attempt would be refused.
    const isRepeatable = !changes.some((change) => "if_match" in change);
    const sent = { ...jsonOf({ tickets: changes }), isRepeatable, isList: true };
    const target = `${ROOT}/tickets/bulk`;
    return bulkOf(await this.transport.json({ method: "PATCH", target, ...sent }));
  }

  /** Merges a ticket into another, and returns that one. */
  merge(id: string, into: string, options: PostOptions = {}): Promise<types.Ticket> {
    return this.postFields(`${ROOT}/tickets/${segment(id)}/merge`, { into }, options, into);
  }

  /** Undoes a merge within a day. */
  undoMerge(id: string): Promise<types.Ticket> {
    const target = `${ROOT}/tickets/${segment(id)}/merge`;
    return this.dataOf({ method: "DELETE", target, resourceId: id });
  }

  /** Makes a new ticket of a reply and all later ones. */
  split(
    id: string,
    fields: { reply_id: string; subject: string },
    options: PostOptions = {},
  ): Promise<types.Ticket> {
    return this.postFields(`${ROOT}/tickets/${segment(id)}/split`, fields, options);
  }

  /** Creates a secret link to the page on which the customer rates a ticket. */
  ratingLink(id: string, options: PostOptions = {}): Promise<types.RatingLink> {
    return this.postFields(`${ROOT}/tickets/${segment(id)}/rating-link`, {}, options);
  }
}

export class Replies extends Resource {
  /** The replies and notes of a ticket, newest first. */
  list(
    ticketId: string,
    filters: types.ReplyFilters = {},
    options: ListOptions = {},
  ): Pages<types.Reply> {
    return this.listRows(`${ROOT}/tickets/${segment(ticketId)}/replies`, filters, options);
  }

  /** Writes a public reply, or an internal note with `is_internal: true`. */
  create(ticketId: string, fields: types.NewReply, options: PostOptions = {}): Promise<types.Reply> {
    return this.postFields(`${ROOT}/tickets/${segment(ticketId)}/replies`, fields, options);
  }
}

export class Followers extends Resource {
  /** The users who follow a ticket. */
  list(ticketId: string, options: ListOptions = {}): Pages<types.Follower> {
    return this.listRows(followersPath(ticketId), {}, options);
  }

  add(ticketId: string, userId: string, options: PostOptions = {}): Promise<types.Follower> {
    return this.postFields(followersPath(ticketId), { user_id: userId }, options);
  }

  remove(ticketId: string, userId: string): Promise<Done> {
    return this.deleteAt(`${followersPath(ticketId)}/${segment(userId)}`);
  }
}

export class Links extends Resource {
  /** The tickets that a ticket is linked to. */
  list(ticketId: string, options: ListOptions = {}): Pages<types.TicketLink> {
    return this.listRows(linksPath(ticketId), {}, options);
  }

  /** Links a ticket to another one. */
  add(
    ticketId: string,
    relation: types.NewTicketLink["relation"],
    otherId: string,
    options: PostOptions = {},
  ): Promise<types.TicketLink> {
    return this.postFields(linksPath(ticketId), { relation, ticket_id: otherId }, options);
  }

  remove(ticketId: string, otherId: string): Promise<Done> {
    return this.deleteAt(`${linksPath(ticketId)}/${segment(otherId)}`);
  }
}

export class Participants extends Resource {
  /** The people who get the public replies of a ticket by e-mail. */
  get(ticketId: string): Promise<types.Participants> {
    return this.dataOf({ method: "GET", target: participantsPath(ticketId) });
  }

  /** Sets all of them; an empty list for nobody. */
  set(ticketId: string, participants: types.NewParticipant[]): Promise<types.Participants> {
    const target = participantsPath(ticketId);
    return this.dataOf({ method: "PUT", target, ...jsonOf({ participants }) });
  }
}

export class Customers extends Resource {
  /** The customers that match all filters, newest first. */
  list(
    filters: types.CustomerFilters = {},
    options: ListOptions = {},
  ): Pages<types.Customer> {
    return this.listRows(`${ROOT}/customers`, filters, options);
  }

  get(id: string): Promise<types.Customer> {
    return this.getData(`${ROOT}/customers/${segment(id)}`);
  }

  create(fields: types.NewCustomer, options: PostOptions = {}): Promise<types.Customer> {
    return this.postFields(`${ROOT}/customers`, fields, options);
  }

  update(
    id: string,
    fields: types.CustomerChange,
    options: PatchOptions = {},
  ): Promise<types.Customer> {
    return this.patchFields(`${ROOT}/customers/${segment(id)}`, fields, options);
  }

  /** Deletes a customer without tickets. */
  delete(id: string, options: PatchOptions = {}): Promise<Done> {
    return this.deleteAt(`${ROOT}/customers/${segment(id)}`, options);
  }

  /** Merges a customer into another, and returns that one. */
  merge(id: string, into: string, options: PostOptions = {}): Promise<types.Customer> {
    return this.postFields(`${ROOT}/customers/${segment(id)}/merge`, { into }, options, into);
  }

  /** Undoes a merge within a day. */
  undoMerge(id: string): Promise<types.Customer> {
    const target = `${ROOT}/customers/${segment(id)}/merge`;
    return this.dataOf({ method: "DELETE", target, resourceId: id });
  }

  /** Begins to erase a customer and all texts of their tickets, for good. */
  erase(id: string, options: PostOptions = {}): Promise<types.Erasure> {
    return this.dataOf(postOf(`${ROOT}/customers/${segment(id)}/erase`, utf8(""), options));
  }

  /** How far the erasure of a customer is. */
  erasure(id: string): Promise<types.Erasure> {
    return this.dataOf({ method: "GET", target: `${ROOT}/customers/${segment(id)}/erasure` });
  }

  /** Changes the customer with this id of another system, or adds one. */
  upsert(externalId: string, fields: types.CustomerUpsert): Promise<types.Customer> {
    const target = `${ROOT}/customers/by-external-id/${segment(externalId)}`;
    return this.dataOf({ method: "PUT", target, ...jsonOf(fields) });
  }
}

export class Attachments extends Resource {
  /** Uploads a file. Its id goes into `attachment_ids` of a new ticket or reply. */
  upload(
    name: string,
    content: Bytes,
    options: PostOptions & { contentType?: string } = {},
  ): Promise<types.Attachment> {
    const target = targetOf(`${ROOT}/attachments`, { name });
    const sending = postOf(target, content, options);
    const type = options.contentType ?? "application/octet-stream";
    return this.dataOf({ ...sending, headers: { ...sending.headers, "content-type": type } });
  }

  get(id: string): Promise<types.Attachment> {
    return this.getData(`${ROOT}/attachments/${segment(id)}`);
  }

  /** The bytes of a file. A larger one than maxBytes, 64 MiB by default, is refused. */
  async download(
    id: string,
    options: { maxBytes?: number } = {},
  ): Promise<Bytes> {
    checkNames(options, ["maxBytes"]);
    const { maxBytes = MAX_FILE_BYTES } = options;
    const target = `${ROOT}/attachments/${segment(id)}/content`;
    const sending: Sending = { method: "GET", target, maxBytes };
    const received = await this.transport.success(sending);
    return withResponse(received.body, received);
  }
}

export class Events extends Resource {
  /** The events after the cursor, and then each new one, without end. */
  follow(options: FeedOptions = {}): Feed<types.Event> {
    checkNames(options, ["cursor", "types", "start", "waitS", "onFailure", "signal"]);
    const { types: type, start = "latest", signal } = options;
    const read = (cursor: string | undefined, wait: number) => {
      const at = cursor === undefined ? { start } : { cursor };
      const query = { type, per_page: PAGE_ROWS, wait, ...at };
      return readPageOf<types.Event>(this.transport, `${ROOT}/events`, query, wait, signal);
    };
    return new Feed(read, (seconds, stop) => this.transport.sleep(seconds, stop), options);
  }

  /** One page of the feed, without waiting. */
  page(
    options: { cursor?: string; types?: readonly string[]; start?: "latest" | "oldest" } = {},
  ): Promise<Page<types.Event>> {
    checkNames(options, ["cursor", "types", "start"]);
    const { cursor, types: type, start = "oldest" } = options;
    const at = cursor === undefined ? { start } : { cursor };
    return readPageOf(this.transport, `${ROOT}/events`, { type, per_page: PAGE_ROWS, ...at });
  }
}

/** A page of any list. waitS: how long the service may wait for a row. */
export async function readPageOf<T>(
  transport: Transport,
  path: string,
  query: Readonly<Record<string, unknown>>,
  waitS = 0,
  signal?: AbortSignal,
): Promise<Page<T>> {
  const target = targetOf(path, query);
  return readPage(
    await transport.json({ method: "GET", target, extraMs: waitS * 1000, signal, isList: true }),
  );
}

/** Throws InvalidConfiguration. */
function matchHeader(options: PatchOptions): Record<string, string> {
  checkNames(options, ["ifMatch"]);
  const { ifMatch } = options;
  if (ifMatch === undefined) return {};
  const etag = typeof ifMatch === "string" ? ifMatch : responseOf(ifMatch)?.etag;
  if (etag === "") throw new InvalidConfiguration("ifMatch must be an ETag, and is empty");
  if (etag !== undefined) return { "if-match": etag };
  throw new InvalidConfiguration("the rows of a list have no ETag for ifMatch: get the one first");
}

function participantsPath(ticketId: string): string {
  return `${ROOT}/tickets/${segment(ticketId)}/participants`;
}

function followersPath(ticketId: string): string {
  return `${ROOT}/tickets/${segment(ticketId)}/followers`;
}

function linksPath(ticketId: string): string {
  return `${ROOT}/tickets/${segment(ticketId)}/links`;
}

function bulkOf(response: any): types.BulkResult {
  const { item_count, refused_count } = response.meta;
  return { data: response.data, itemCount: item_count, refusedCount: refused_count };
}

function idOf(target: string): string {
  return decodeURIComponent(target.split("?")[0]!.split("/").pop()!);
}

export function jsonOf(fields: object): { body: Bytes; headers: Record<string, string> } {
  const headers = { ...JSON_HEADERS };
  return { body: utf8(JSON.stringify(fields, refuseLost)), headers };
}

/** JSON would hold null, which clears a field, or {}, or nothing. this: what holds the value. */
function refuseLost(this: any, name: string, value: unknown): unknown {
  const given: unknown = this[name];
  const isLost =
    ["bigint", "function", "symbol"].includes(typeof given) ||
    (typeof given === "number" && !Number.isFinite(given)) ||
    (given instanceof Date && value === null) ||
    (given === undefined && Array.isArray(this)) ||
    [Map, Set, ArrayBuffer].some((kind) => given instanceof kind) ||
    ArrayBuffer.isView(given);
  if (isLost) {
    throw new InvalidConfiguration(`${name} cannot be ${String(given)}, which JSON does not have`);
  }
  return value;
}

function postOf(target: string, body: Bytes, options: PostOptions): Sending {
  checkNames(options, ["idempotencyKey", "contentType"]);
  const key: unknown = options.idempotencyKey ?? crypto.randomUUID();
  if (typeof key !== "string" || key === "") {
    throw new InvalidConfiguration(`idempotencyKey must be a text, not "${String(key)}"`);
  }
  const headers = { ...JSON_HEADERS, "idempotency-key": key };
  return { method: "POST", target, body, headers };
}
