import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidConfiguration, InvalidSignature, RateLimitExceeded } from "../dist/index.js";
import { KEY, NOW_MS, deskWith, failure, json, problem } from "./support.js";

test("equal requests at the same time have different signatures", async () => {
  const answers = Array.from({ length: 20 }, () => json({ data: {} }));
  const { desk, requests } = deskWith(answers);
  await Promise.all(answers.map(() => desk.request("POST", "/api/v1/external/x", "{}")));
  assert.equal(new Set(requests.map((each) => each.headers["x-api-signature"])).size, 20);
});

test("the calls of a desk wait for a limit together", async () => {
  const limited = () => problem(429, "rate_limit_exceeded", {}, { "retry-after": "60" });
  const name = () => json({ data: { name: "n" } });
  const answers = [...Array.from({ length: 4 }, limited), name(), name()];
  const { desk, pauses, requests } = deskWith(answers, { retry: { retries: 1, baseS: 0 } });
  await desk.whoami();
  assert.equal(requests.length, 5);
  await desk.withOptions({}).whoami();
  assert.ok(pauses.length === 5 && pauses[4] > 0 && pauses[4] <= 60);
});

test("a call has a time limit, a deadline and a signal, and tells of its retries", async () => {
  const limited = () => problem(429, "rate_limit_exceeded", {}, { "retry-after": "9" });
  const answers = [limited(), problem(503, "storage_unavailable"), json({ data: { name: "n" } })];
  const { desk, requests } = deskWith(answers);
  await assert.rejects(desk.withOptions({ deadlineMs: 5000 }).whoami(), RateLimitExceeded);
  assert.equal(requests.length, 1);
  const told = [];
  const other = deskWith([problem(503, "storage_unavailable"), json({ data: { name: "n" } })]);
  await other.desk.withOptions({ onRetry: (retry) => told.push(retry) }).whoami();
  const target = "/api/v1/external/whoami";
  assert.deepEqual(told, [{ method: "GET", target, reason: "503", pauseS: 0.25 }]);
  const hasty = deskWith([problem(503, "storage_unavailable")]);
  const once = hasty.desk.withOptions({ retry: { retries: 0 } });
  await assert.rejects(once.whoami(), { code: "storage_unavailable" });
  const abort = new AbortController();
  const stuck = (_, init) =>
    new Promise((_, refuse) => {
      init.signal.addEventListener("abort", () => refuse(init.signal.reason));
      abort.abort();
    });
  const silent = deskWith([stuck]);
  const call = silent.desk.withOptions({ signal: abort.signal }).whoami();
  await assert.rejects(call, { name: "AbortError" });
});

test("calls of a closed desk are refused, and running ones are not sent again", async () => {
  const { desk, requests } = deskWith([() => (desk.close(), problem(503, "storage_unavailable"))]);
  for (const each of [desk, desk.withOptions({}), desk]) {
    await assert.rejects(each.whoami(), InvalidConfiguration);
  }
  assert.equal(requests.length, 1);
});

test("signatures that other processes have used are replaced at random", async () => {
  const replayed = (count) => Array.from({ length: count }, () => problem(401, "signature_replayed"));
  const shares = [0, 0.25, 0.5, 0.75, 1, 0.1, 0.2, 0.3, 0.4];
  const random = () => shares.shift() ?? 0.6;
  const first = deskWith([...replayed(9), json({ data: { id: "1" } })], { random });
  // A change that is otherwise not repeated: a refused one had no effect.
  assert.equal((await first.desk.tickets.undoMerge("1")).id, "1");
  const timestamps = first.requests.map((each) => Number(each.headers["x-api-timestamp"]));
  assert.equal(new Set(timestamps).size, 9); // 0.5 is the present second, as the first one
  assert.ok(timestamps.every((at) => Math.abs(at - NOW_MS / 1000) <= 240));
  assert.deepEqual(first.pauses, []);
});

test("a refused signature is sent once more with what was signed", async () => {
  const refused = () => problem(401, "invalid_signature", { diagnosis: "target_differs" });
  const { desk, requests, pauses } = deskWith([refused(), refused()]);
  await assert.rejects(desk.tickets.get("1"), InvalidSignature);
  const [first, second] = requests.map((each) => each.headers);
  assert.equal(first["x-api-signed-message"], undefined);
  const message = Buffer.from(second["x-api-signed-message"], "base64").toString();
  const start = `${second["x-api-timestamp"]}GET/api/v1/external/tickets/1`;
  assert.match(message, new RegExp(`^${start}[0-9a-f]{64}$`));
  assert.equal(requests.length, 2);
  assert.deepEqual(pauses, []);
});

test("what was signed is not sent where that is off, or where it is over 4 KiB", async () => {
  const refused = () => problem(401, "invalid_signature");
  const off = deskWith([refused()], { showsSignedMessage: false });
  await assert.rejects(off.desk.whoami(), InvalidSignature);
  assert.equal(off.requests.length, 1);
  const long = deskWith([refused(), refused()]);
  const response = await long.desk.request("GET", `/api/v1/external/tickets?q=${"a".repeat(4096)}`);
  assert.equal(response.status, 401);
  assert.ok(long.requests.every((each) => each.headers["x-api-signed-message"] === undefined));
});

test("a change with If-Match is repeated when it cannot have had its effect", async () => {
  const change = ["1", { subject: "b" }, { ifMatch: '"1.2"' }];
  const refused = deskWith([failure("ECONNREFUSED"), json({ data: { id: "1" } })]);
  assert.equal((await refused.desk.tickets.update(...change)).id, "1");
});

test("a signal ends the waiting", async () => {
  const abort = new AbortController();
  const { desk } = deskWith([failure("ECONNREFUSED")], { sleep: () => new Promise(() => {}) });
  const feed = desk.events.follow({ signal: abort.signal });
  const next = feed[Symbol.asyncIterator]().next();
  setTimeout(() => abort.abort(), 10);
  await assert.rejects(next, { name: "AbortError" });
});

test("a running desk signs with a rotated secret", async () => {
  const whoami = () => json({ data: { key_id: "1" } });
  const { desk, requests } = deskWith([whoami(), whoami()]);
  const other = desk.withOptions({ timeoutMs: 9 });
  await desk.whoami();
  assert.throws(() => desk.useCredentials(KEY, "cut off"), InvalidConfiguration);
  desk.useCredentials(KEY, "ef".repeat(32));
  await other.whoami();
  const [before, after] = requests.map((each) => each.headers["x-api-signature"]);
  assert.notEqual(before, after);
  assert.equal(requests[1].headers["x-api-key"], KEY);
});

test("a failure of the connection says what to look at", async () => {
  for (const [code, advice] of [
    ["DEPTH_ZERO_SELF_SIGNED_CERT", /certificate .* not trusted/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", /instead of https/],
    ["UND_ERR_HEADERS_TIMEOUT", /in time/],
    ["ECONNREFUSED", /is the URL right/],
  ]) {
    const { desk } = deskWith([failure(code)], { retry: { retries: 0 } });
    await assert.rejects(desk.whoami(), advice);
  }
});

test("what would be sent as something else is refused before it is sent", async () => {
  const { desk, requests } = deskWith([]);
  const change = (fields, options) => desk.tickets.update("1", fields, options);
  const { tickets, replies } = desk;
  for (const sent of [
    () => change({ custom_fields: { weight: NaN } }),
    () => change({ custom_fields: { weights: [1, Infinity] } }),
    () => change({ snoozed_until: new Date("never") }),
    () => change({ custom_fields: { weight: 1n } }),
    () => change({ custom_fields: new Map([["a", "b"]]) }),
    () => change({ subject: new Uint8Array([65]) }),
    () => change({ tags: ["a", undefined] }),
    () => change({ subject: "S" }, { ifMatch: "" }),
    () => change({ subject: "S" }, { ifmatch: '"1.1"' }),
    () => replies.create("1", { body: "B" }, { idempotencyKey: "" }),
    () => replies.create("1", { body: "B" }, { idempotency_key: "k" }),
    () => tickets.list({ created_after: new Date("never") }).first(),
    () => tickets.list({ status: { name: "open" } }).first(),
    () => tickets.list({ tag: "\ud800" }).first(),
    () => tickets.list({}, { after: "c" }).first(),
    () => tickets.search(undefined).first(),
    () => tickets.get("\ud800"),
    () => tickets.get("1", { includes: ["replies"] }),
    () => desk.events.follow({ type: ["ticket.created"] }),
    () => desk.withOptions({ timeout: 3 }),
    () => desk.withOptions({ timeoutMs: NaN }),
    () => desk.withOptions({ timeoutMs: 0 }),
    () => desk.withOptions({ timeoutMs: Infinity }),
    () => desk.withOptions({ deadlineMs: "5" }),
    () => desk.withOptions({ deadlineMs: 0 }),
    () => desk.withOptions({ signal: {} }),
    () => desk.withOptions({ onRetry: "log" }),
    () => desk.withOptions({ retry: 3 }),
    () => desk.withOptions({ retry: { retries: "3" } }),
    () => deskWith([], { timeout: 3 }),
    () => deskWith([], { retry: { tries: 3 } }),
    () => deskWith([], { retry: 3 }),
    () => deskWith([], { retry: { maxWaitS: NaN } }),
    () => deskWith([], { timeoutMs: -1 }),
    () => deskWith([], { now: 5 }),
    () => deskWith([], { warn: null }),
    () => deskWith([], { showsSignedMessage: "no" }),
  ]) {
    await assert.rejects(async () => sent(), InvalidConfiguration, String(sent));
  }
  assert.deepEqual(requests, []);
});
