/** Against a running service: its address, key and secret are in the environment. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CustomerEmailTaken, CustomerMerged, Desk, InvalidSignature, Signer, VersionMismatch } from "../../dist/index.js";

const desk = Desk.fromEnvironment();
const vectors = JSON.parse(readFileSync(process.env.SIGNATURE_VECTORS, "utf8"));
const ROOT = "/api/v1/external";

test("it signs every vector", async () => {
  for (const vector of vectors.valid) {
    const now = () => vectors.timestamp * 1000;
    const signer = new Signer(vectors.api_key, vectors.api_secret, now);
    const body = new TextEncoder().encode(vector.body_utf8);
    const headers = await signer.sign(vector.method, vector.request_target, body);
    assert.equal(headers["x-api-signature"], vector.signature, vector.name);
  }
});

test("the service accepts whatever a URL may hold", async () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
  const encoded = bytes.map((hex) => `%${hex}`).concat(bytes.map((hex) => `%${hex.toUpperCase()}`));
  const raw = [..."abcXYZ019-._~!$&'()*+,;=:@/?[]|^`{}\"<>\\ \u00fc\u20ac"];
  const pieces = [...raw, ...encoded];
  let state = Number(process.env.RANDOM_SEED ?? 7);
  const random = (below) => (state = (state * 48271) % 2147483647) % below;
  const statuses = new Map();
  for (let round = 0; round < Number(process.env.RANDOM_REQUESTS ?? 150); round += 1) {
    const text = Array.from({ length: 1 + random(12) }, () => pieces[random(pieces.length)]).join("");
    const target = `${ROOT}/${round % 2 ? "tickets?tag=" : "customers/"}${text}`;
    const method = ["GET", "POST", "patch"][random(3)];
    const body = method === "GET" ? "" : JSON.stringify({ a: text });
    const { status } = await desk.request(method, target, body);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  const known = [200, 400, 404, 405, 422];
  assert.deepEqual([...statuses.keys()].filter((status) => !known.includes(status)), []);
});

test("what is created is listed over all pages, and arrives in the feed", async () => {
  const { resumeCursor } = await desk.events.page({ start: "latest" });
  const emails = Array.from({ length: 5 }, (_, n) => `n${n}+${Date.now()}@example.test`);
  for (const email of emails) {
    const customer = await desk.customers.create({ email, name: "Jürgen 'Ü' €" });
    assert.equal(customer.name, "Jürgen 'Ü' €");
  }
  const listed = [];
  for await (const customer of desk.customers.list({ per_page: 2 })) listed.push(customer.email);
  assert.deepEqual(listed.slice(0, 5), emails.toReversed?.() ?? [...emails].reverse());
  assert.equal((await desk.customers.list({ email: emails[2] }).first()).email, emails[2]);
  const types = ["customer.created"];
  const fresh = await desk.events.page({ start: "latest", types });
  const ticketed = desk.tickets.create({
    subject: "a",
    description: "b",
    customer: { email: `t${emails[0]}` },
  });
  const feed = desk.events.follow({ cursor: fresh.resumeCursor, types, waitS: 5 });
  for await (const event of feed) {
    assert.equal(event.data.object.email, `t${emails[0]}`);
    break;
  }
  assert.ok((await ticketed).number > 0);
  assert.ok(resumeCursor);
});

test("a request that is repeated has one effect", async () => {
  const fields = { subject: "once", description: "b", customer: { email: "once@example.test" } };
  const options = { idempotencyKey: `key-${Date.now()}` };
  const [one, two] = await Promise.all([
    desk.tickets.create(fields, options),
    desk.tickets.create(fields, options),
  ]);
  assert.equal(one.id, two.id);
});

test("files go up and down unchanged", async () => {
  const content = new Uint8Array(300).map((_, n) => n);
  const { id } = await desk.attachments.upload("ü '+.bin", content);
  assert.deepEqual(await desk.attachments.download(id), content);
});

test("errors have the class of their code, and a diagnosis", async () => {
  const email = `twice${Date.now()}@example.test`;
  await desk.customers.create({ email });
  const again = desk.customers.create({ email });
  await assert.rejects(again, CustomerEmailTaken);
  const wrong = Desk.fromEnvironment({ apiSecret: "0".repeat(64) });
  await assert.rejects(wrong.whoami(), (error) => {
    assert.ok(error instanceof InvalidSignature);
    return /probably not the secret/.test(error.message);
  });
});

test("a clock that is off by an hour is corrected", async () => {
  const warnings = [];
  const late = Desk.fromEnvironment({
    now: () => Date.now() - 3_600_000,
    warn: (text) => warnings.push(text),
  });
  assert.ok((await late.whoami()).name);
  assert.match(warnings[0], /is 3[56]\d\d s behind/);
});

test("several tickets, included data, followers and upserts", async () => {
  const fields = { subject: "several", description: "b", customer: { email: "s@example.test" } };
  const named = { ...fields, custom_fields: { carrier: "DHL" } };
  const created = await desk.tickets.bulkCreate([named, { ...fields, subject: "" }]);
  assert.deepEqual([created.itemCount, created.refusedCount], [2, 1]);
  assert.equal(created.data[1].problem.code, "validation_failed");
  const { id } = created.data[0].data;
  const changed = await desk.tickets.bulkUpdate([{ id, status: "pending" }]);
  assert.equal(changed.data[0].data.status, "pending");
  const filters = { status: ["pending"], include: ["customer", "replies"] };
  const { included } = await desk.tickets.list(filters).first();
  assert.deepEqual([included.customer.email, included.replies.data], ["s@example.test", []]);
  let found; // the service indexes values a moment later
  for (let tries = 0; found?.id !== id && tries < 200; tries += 1) {
    found = await desk.tickets.list({ custom_field: ["carrier:DHL"] }).first();
    if (found?.id !== id) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(found?.id, id);
  for (const tag of ["a,b", "c++", "50%", "%41", "R&D", "#1", "a/b", "ü 日本", "*"]) {
    await desk.tickets.update(id, { tags: [tag] });
    assert.equal((await desk.tickets.list({ tag: [tag] }).first())?.id, id, tag);
  }
  const gone = await desk.customers.create({ email: `gone${Date.now()}@example.test` });
  await assert.rejects(desk.customers.delete(gone.id, { ifMatch: '"7"' }), VersionMismatch);
  await desk.customers.delete(gone.id, { ifMatch: `"${gone.version}"` });
  const agent = await desk.agents().first();
  await desk.followers.add(id, agent.id);
  assert.equal((await desk.followers.list(id).first()).id, agent.id);
  await desk.followers.remove(id, agent.id);
  assert.equal(await desk.followers.list(id).first(), undefined);
  const other = await desk.tickets.create(fields);
  assert.equal((await desk.links.add(id, "blocks", other.id)).number, other.number);
  assert.equal((await desk.links.list(other.id).first()).relation, "blocked_by");
  await desk.links.remove(id, other.id);
  const made = await desk.customers.upsert("shop/7 ü", { email: "bo@example.test", name: "Bo" });
  const again = await desk.customers.upsert("shop/7 ü", { email: "bo@example.test", name: "Al" });
  assert.deepEqual([again.id, again.name], [made.id, "Al"]);
  await desk.customers.delete(made.id);
});

test("webhooks are managed", async () => {
  const fields = { url: `${desk.baseUrl}/hook`, events: ["ticket.created"] };
  const { id, secret, created_at: since } = await desk.webhooks.create(fields);
  assert.equal((await desk.webhooks.list().first()).id, id);
  assert.equal((await desk.webhooks.get(id)).url, fields.url);
  assert.notEqual((await desk.webhooks.rotateSecret(id)).secret, secret);
  assert.equal((await desk.webhooks.redeliverFailed(id, { since })).delivery_count, 0);
  assert.equal((await desk.webhooks.retryNow(id)).delivery_count, 0);
  const until = new Date().toISOString();
  const replay = await desk.webhooks.replay(id, { since, until });
  assert.equal((await desk.webhooks.replays(id).first()).id, replay.id);
  const tested = await desk.webhooks.test(id);
  const listed = await desk.webhooks.deliveries(id, { event_type: "webhook.test" }).first();
  assert.equal((await desk.webhooks.delivery(id, listed.id)).event_id, tested.event_id);
  assert.equal((await desk.webhooks.redeliver(id, listed.id)).event_id, tested.event_id);
  assert.equal((await desk.webhooks.update(id, { is_active: false })).is_active, false);
  await desk.webhooks.delete(id);
  assert.equal(await desk.webhooks.list().first(), undefined);
});

test("rules are managed", async () => {
  const conditions = [{ field: "tag", operator: "is", values: ["vip"] }];
  const fields = { name: "VIP first", trigger: "created", conditions, actions: { priority: "high" } };
  const { id } = await desk.rules.create(fields);
  assert.equal((await desk.rules.list().first()).id, id);
  assert.deepEqual((await desk.rules.get(id)).conditions, conditions);
  assert.equal((await desk.rules.update(id, { is_enabled: true })).version, 2);
  assert.equal((await desk.rules.dryRun(id, { after: 1 })).next_after, null);
  await desk.rules.delete(id);
  assert.equal(await desk.rules.list().first(), undefined);
});

test("a customer is merged into another, and the merge undone", async () => {
  const at = `${Date.now()}@merge.example`;
  const [one, other] = [
    await desk.customers.create({ email: `one${at}`, other_phones: ["7"] }),
    await desk.customers.create({ email: `other${at}` }),
  ];
  const merged = await desk.customers.merge(one.id, other.id);
  assert.deepEqual([merged.id, merged.other_emails, merged.other_phones], [other.id, [one.email], ["7"]]);
  assert.equal((await desk.customers.get(one.id)).merged_into_id, other.id);
  await assert.rejects(desk.customers.update(one.id, { name: "N" }), (error) => {
    assert.ok(error instanceof CustomerMerged);
    assert.equal(error.problem.merged_into_id, other.id);
    return true;
  });
  assert.equal((await desk.customers.undoMerge(one.id)).merged_into_id, null);
});
