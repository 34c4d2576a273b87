/** The resources of a desk: tickets, replies, customers, attachments and events. */
import { type Bytes } from "./bytes.js";
import { Feed, type FeedOptions } from "./feed.js";
import { type Page, Pages } from "./pages.js";
import { type Sending, type Transport } from "./transport.js";
import type * as types from "./types.js";
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
export declare abstract class Resource {
    protected readonly transport: Transport;
    constructor(transport: Transport);
    protected dataOf<T>(sending: Sending): Promise<T>;
    /** The resource whose id ends the path. */
    protected getData<T>(target: string): Promise<T>;
    protected listRows<T>(path: string, query: object, options: ListOptions): Pages<T>;
    protected postFields<T>(target: string, fields: object, options: PostOptions, resourceId?: string): Promise<T>;
    /** Of an action without an Idempotency-Key, so it is not repeated after a failure. */
    protected postOnce<T>(target: string, fields?: object, extraMs?: number): Promise<T>;
    protected deleteAt(target: string, options?: PatchOptions): Promise<Done>;
    protected patchFields<T>(target: string, fields: object, options: PatchOptions): Promise<T>;
}
export declare class Tickets extends Resource {
    /** The tickets that match all filters, newest first. */
    list(filters?: types.TicketFilters, options?: ListOptions): Pages<types.Ticket>;
    /** The tickets with all words and filters of the inbox's search, such as `tag:vip kettle`. */
    search(q: string, options?: ListOptions): Pages<types.FoundTicket>;
    /** html: also with its description as safe HTML. include: its customer, its replies. */
    get(id: string, options?: {
        html?: boolean;
        include?: readonly ("customer" | "replies")[];
    }): Promise<types.Ticket>;
    /** Opens a ticket. Its customer is found by e-mail address, or added. */
    create(fields: types.NewTicket, options?: PostOptions): Promise<types.Ticket>;
    update(id: string, fields: types.TicketChange, options?: PatchOptions): Promise<types.Ticket>;
    /** Opens up to 100 tickets. One that is refused stops no other: see refusedCount. */
    bulkCreate(tickets: readonly types.NewTicket[], options?: PostOptions): Promise<types.BulkResult>;
    /** Changes up to 100 tickets. One that is refused stops no other: see refusedCount. */
    bulkUpdate(changes: readonly types.IdentifiedChange[]): Promise<types.BulkResult>;
    /** Merges a ticket into another, and returns that one. */
    merge(id: string, into: string, options?: PostOptions): Promise<types.Ticket>;
    /** Undoes a merge within a day. */
    undoMerge(id: string): Promise<types.Ticket>;
    /** Makes a new ticket of a reply and all later ones. */
    split(id: string, fields: {
        reply_id: string;
        subject: string;
    }, options?: PostOptions): Promise<types.Ticket>;
    /** Creates a secret link to the page on which the customer rates a ticket. */
    ratingLink(id: string, options?: PostOptions): Promise<types.RatingLink>;
}
export declare class Replies extends Resource {
    /** The replies and notes of a ticket, newest first. */
    list(ticketId: string, filters?: types.ReplyFilters, options?: ListOptions): Pages<types.Reply>;
    /** Writes a public reply, or an internal note with `is_internal: true`. */
    create(ticketId: string, fields: types.NewReply, options?: PostOptions): Promise<types.Reply>;
}
export declare class Followers extends Resource {
    /** The users who follow a ticket. */
    list(ticketId: string, options?: ListOptions): Pages<types.Follower>;
    add(ticketId: string, userId: string, options?: PostOptions): Promise<types.Follower>;
    remove(ticketId: string, userId: string): Promise<Done>;
}
export declare class Links extends Resource {
    /** The tickets that a ticket is linked to. */
    list(ticketId: string, options?: ListOptions): Pages<types.TicketLink>;
    /** Links a ticket to another one. */
    add(ticketId: string, relation: types.NewTicketLink["relation"], otherId: string, options?: PostOptions): Promise<types.TicketLink>;
    remove(ticketId: string, otherId: string): Promise<Done>;
}
export declare class Participants extends Resource {
    /** The people who get the public replies of a ticket by e-mail. */
    get(ticketId: string): Promise<types.Participants>;
    /** Sets all of them; an empty list for nobody. */
    set(ticketId: string, participants: types.NewParticipant[]): Promise<types.Participants>;
}
export declare class Customers extends Resource {
    /** The customers that match all filters, newest first. */
    list(filters?: types.CustomerFilters, options?: ListOptions): Pages<types.Customer>;
    get(id: string): Promise<types.Customer>;
    create(fields: types.NewCustomer, options?: PostOptions): Promise<types.Customer>;
    update(id: string, fields: types.CustomerChange, options?: PatchOptions): Promise<types.Customer>;
    /** Deletes a customer without tickets. */
    delete(id: string, options?: PatchOptions): Promise<Done>;
    /** Merges a customer into another, and returns that one. */
    merge(id: string, into: string, options?: PostOptions): Promise<types.Customer>;
    /** Undoes a merge within a day. */
    undoMerge(id: string): Promise<types.Customer>;
    /** Begins to erase a customer and all texts of their tickets, for good. */
    erase(id: string, options?: PostOptions): Promise<types.Erasure>;
    /** How far the erasure of a customer is. */
    erasure(id: string): Promise<types.Erasure>;
    /** Changes the customer with this id of another system, or adds one. */
    upsert(externalId: string, fields: types.CustomerUpsert): Promise<types.Customer>;
}
export declare class Attachments extends Resource {
    /** Uploads a file. Its id goes into `attachment_ids` of a new ticket or reply. */
    upload(name: string, content: Bytes, options?: PostOptions & {
        contentType?: string;
    }): Promise<types.Attachment>;
    get(id: string): Promise<types.Attachment>;
    /** The bytes of a file. A larger one than maxBytes, 64 MiB by default, is refused. */
    download(id: string, options?: {
        maxBytes?: number;
    }): Promise<Bytes>;
}
export declare class Events extends Resource {
    /** The events after the cursor, and then each new one, without end. */
    follow(options?: FeedOptions): Feed<types.Event>;
    /** One page of the feed, without waiting. */
    page(options?: {
        cursor?: string;
        types?: readonly string[];
        start?: "latest" | "oldest";
    }): Promise<Page<types.Event>>;
}
/** A page of any list. waitS: how long the service may wait for a row. */
export declare function readPageOf<T>(transport: Transport, path: string, query: Readonly<Record<string, unknown>>, waitS?: number, signal?: AbortSignal): Promise<Page<T>>;
export declare function jsonOf(fields: object): {
    body: Bytes;
    headers: Record<string, string>;
};
