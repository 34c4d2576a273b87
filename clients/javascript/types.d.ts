/** Results and parameters, made from the OpenAPI document in `schema.ts`. */
import type { components, operations } from "./schema.js";
type Schemas = components["schemas"];
/**
 * A result as this version of the client knows it. A later version of the service may add members
 * and values: texts with known values keep them for completion, and accept others.
 */
export type Open<T> = T extends string ? string extends T ? T : T | (string & {}) : T extends (infer Item)[] ? Open<Item>[] : T extends object ? {
    [Name in keyof T]: Open<T[Name]>;
} : T;
export type Ticket = Open<Schemas["Ticket"]>;
export type Reply = Open<Schemas["Reply"]>;
export type Customer = Open<Schemas["Customer"]>;
export type Attachment = Open<Schemas["Attachment"]>;
export type TicketResult = Open<Schemas["TicketResult"]>;
export type Erasure = Open<Schemas["Erasure"]>;
export type Follower = Open<Schemas["Follower"]>;
export type TicketLink = Open<Schemas["TicketLink"]>;
export type NewTicketLink = Schemas["NewTicketLink"];
export type RatingLink = Open<Schemas["RatingLink"]>;
export type Report = Open<Schemas["Report"]>;
export type Participants = Open<Schemas["ParticipantList"]>;
export type NewParticipant = Schemas["NewParticipant"];
export type Endpoint = Open<Schemas["Webhook"]>;
export type EndpointWithSecret = Open<Schemas["WebhookWithSecret"]>;
export type Delivery = Open<Schemas["Delivery"]>;
export type DeliveryWithAttempts = Open<Schemas["DeliveryWithAttempts"]>;
export type Restarted = Open<Schemas["Restarted"]>;
export type Replay = Open<Schemas["Replay"]>;
export type Rule = Open<Schemas["Rule"]>;
export type DryRun = Open<Schemas["DryRun"]>;
export type Agent = Open<Schemas["Agent"]>;
export type Team = Open<Schemas["TeamRef"]>;
export type FoundTicket = Open<Schemas["FoundTicket"]>;
export type Event = Open<Schemas["Event"]>;
export type WhoAmI = Open<Schemas["WhoAmI"]>;
export type TestClock = Open<Schemas["TestClock"]>;
export type ServerTime = Open<Schemas["Time"]>;
/** Fields with a default are optional when they are sent. */
type Query<Name extends keyof operations> = operations[Name] extends {
    parameters: {
        query?: infer Parameters;
    };
} ? Omit<NonNullable<Parameters>, "cursor"> : never;
export type NewTicket = Sent<Schemas["NewTicket"], "subject" | "description" | "customer">;
export type TicketChange = Partial<Schemas["TicketChange"]>;
export type NewReply = Sent<Schemas["NewReply"], "body">;
export type NewCustomer = Sent<Schemas["NewCustomer"], "email">;
export type CustomerChange = Partial<Schemas["CustomerChange"]>;
export type IdentifiedChange = Sent<Schemas["IdentifiedChange"], "id">;
export type CustomerUpsert = Sent<Schemas["CustomerUpsert"], "email">;
export type NewEndpoint = Sent<Schemas["NewWebhook"], "url" | "events">;
export type EndpointChange = Partial<Schemas["WebhookChange"]>;
export type RuleChange = Omit<Partial<Schemas["RuleChange"]>, "actions"> & {
    actions?: Partial<Schemas["RuleActions"]>;
};
export type NewRule = RuleChange & Pick<Schemas["NewRule"], "name" | "trigger"> & {
    actions: Partial<Schemas["RuleActions"]>;
};
type Sent<T, Required extends keyof T> = Pick<T, Required> & Partial<Omit<T, Required>>;
export type TicketFilters = Query<"list_tickets">;
export type ReportFilters = Query<"get_report">;
export type ReportTicketFilters = Query<"list_report_tickets">;
export type ReplyFilters = Query<"list_replies">;
export type CustomerFilters = Query<"list_customers">;
export type DeliveryFilters = Query<"list_deliveries_by_key">;
export type EventType = Schemas["Event"]["type"] | (string & {});
/** The results of all items of a bulk request, in their order. One refused stops no other. */
export interface BulkResult {
    data: TicketResult[];
    itemCount: number;
    refusedCount: number;
}
export {};
