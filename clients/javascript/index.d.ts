/** The client of Sealdesk: signs, pages, retries, follows events and verifies webhooks. */
export { type CallOptions, Desk, type DeskOptions } from "./desk.js";
export type { Webhooks } from "./endpoints.js";
export * from "./errorCodes.js";
export * from "./errors.js";
export { Feed, type FeedOptions } from "./feed.js";
export { type Page, Pages } from "./pages.js";
export type { Attachments, Customers, Done, Events, Followers, Links, Participants, ListOptions, PatchOptions, PostOptions, Replies, Tickets, } from "./resources.js";
export { DEFAULT_POLICY, type RetryPolicy } from "./retry.js";
export type { Rules } from "./rules.js";
export type { components, operations, paths } from "./schema.js";
export { messageOf, type SignatureHeaders, Signer } from "./signing.js";
export { type Received, type ResponseInfo, responseOf, type Retry } from "./transport.js";
export type * from "./types.js";
export { type HeadersLike, Webhook } from "./webhooks.js";
