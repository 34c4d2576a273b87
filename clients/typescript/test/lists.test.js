import assert from "node:assert/strict";
import { test } from "node:test";
import { CursorExpired, InvalidConfiguration } from "../dist/index.js";
import { deskWith, failure, json, problem } from "./support.js";

const page = (data, meta) => json({ data, meta });

test("an iteration walks all pages with the same filters", async () => {
  const { desk, requests } = deskWith([
    page([{ id: "1" }, { id: "2" }], { has_more: true, next_cursor: "c+/=" }),
    page([{ id: "3" }], { has_more: false, next_cursor: null }),
  ]);
  const filters = { status: ["open", "pending"], tag: ["a b", "ü+'/"], waiting: true };
  const ids = [];
  for await (const ticket of desk.tickets.list(filters)) ids.push(ticket.id);
  assert.deepEqual(ids, ["1", "2", "3"]);
  const query = "per_page=100&status=open%2Cpending&tag=a%20b&tag=%C3%BC%2B%27%2F&waiting=true";
  const root = "https://desk.example.com/api/v1/external/tickets";
  assert.deepEqual(requests.map((each) => each.url), [
    `${root}?${query}`,
    `${root}?${query}&cursor=c%2B%2F%3D`,
  ]);
});

test("a list goes on from a cursor", async () => {
  const { desk, requests } = deskWith([page([], { has_more: false, next_cursor: null })]);
  assert.equal(await desk.customers.list({}, { cursor: "c" }).first(), undefined);
  assert.match(requests[0].url, /cursor=c$/);
});

test("an empty id is refused, because it would address the list", () => {
  const { desk } = deskWith([]);
  for (const id of ["", "..", undefined]) {
    assert.throws(() => desk.tickets.get(id), InvalidConfiguration);
  }
});

test("the feed goes on after failures, and its cursor moves after the events", async () => {
  const { desk, requests, pauses } = deskWith([
    page([], { has_more: false, resume_cursor: "a" }),
    page([{ id: "1" }, { id: "2" }], { has_more: false, resume_cursor: "b" }),
    ...Array.from({ length: 5 }, () => failure("ECONNREFUSED")),
    page([{ id: "3" }], { has_more: false, resume_cursor: "c" }),
    problem(410, "cursor_expired"),
  ]);
  const failures = [];
  const feed = desk.events.follow({ onFailure: (error, pauseS) => failures.push(pauseS) });
  const seen = [];
  await assert.rejects(async () => {
    for await (const event of feed) seen.push([event.id, feed.cursor]);
  }, CursorExpired);
  assert.deepEqual(seen, [["1", "a"], ["2", "a"], ["3", "b"]]);
  assert.equal(feed.cursor, "c");
  assert.deepEqual(failures, [1]);
  const waits = requests.map((each) => new URL(each.url).searchParams.get("wait"));
  assert.deepEqual([waits[0], waits[1], waits.at(-2), waits.at(-1)], ["0", "30", "0", "30"]);
  assert.match(requests[0].url, /start=latest/);
  assert.ok(pauses.length >= 5);
});
