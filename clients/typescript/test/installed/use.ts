/** What an integrator writes, checked by tsc in strict mode. */

import { ApiError, Desk, type Ticket, TicketClosed, Webhook } from "sealdesk";

export async function work(desk: Desk): Promise<Ticket> {
  const ticket = await desk.tickets.create({
    subject: "Kettle leaks",
    description: "Since Monday.",
    customer: { email: "ann@example.com" },
    priority: "high",
    tags: ["kettle"],
  });
  for await (const open of desk.tickets.list({ status: ["open"], tag: ["kettle"] })) {
    const status: string = open.status;
    if (status === "of_tomorrow") continue;
    await desk.replies.create(open.id, { body: "We have sent another one." });
  }
  try {
    return await desk.tickets.update(ticket.id, { status: "resolved" }, { ifMatch: '"1.2"' });
  } catch (error) {
    if (error instanceof TicketClosed) return ticket;
    if (error instanceof ApiError && error.diagnosis) throw new Error(error.diagnosis);
    throw error;
  }
}

export async function follow(desk: Desk, stored: string | undefined): Promise<string | undefined> {
  const feed = desk.events.follow({ cursor: stored, types: ["ticket.created"] });
  for await (const event of feed) {
    if (event.type === "ticket.created") return event.id;
  }
  return feed.cursor;
}

export async function receive(request: Request): Promise<string> {
  const webhook = new Webhook("whsec_" + "A".repeat(43) + "=");
  return (await webhook.verify(await request.text(), request.headers)).type;
}

// @ts-expect-error: a ticket needs a customer
export const incomplete = (desk: Desk) => desk.tickets.create({ subject: "a", description: "b" });
// @ts-expect-error: there is no such filter
export const misspelt = (desk: Desk) => desk.tickets.list({ statuz: "open" });
