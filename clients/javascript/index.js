/** The client of Sealdesk: signs, pages, retries, follows events and verifies webhooks. */
export { Desk } from "./desk.js";
export * from "./errorCodes.js";
export * from "./errors.js";
export { Feed } from "./feed.js";
export { Pages } from "./pages.js";
export { DEFAULT_POLICY } from "./retry.js";
export { messageOf, Signer } from "./signing.js";
export { responseOf } from "./transport.js";
export { Webhook } from "./webhooks.js";
