import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { inspect } from "node:util";
import { InvalidConfiguration, InvalidWebhook, Webhook } from "../dist/index.js";
import { deskWith, json, NOW_MS, SECRET as API_SECRET } from "./support.js";

const BYTES = Buffer.alloc(32, 7);
const SECRET = `whsec_${BYTES.toString("base64")}`;
const BODY = '{"id":"e1","type":"ticket.created","text":"ü"}';
const AT = String(NOW_MS / 1000);

function sign(body = BODY, at = AT, key = BYTES) {
  return `v1,${createHmac("sha256", key).update(`e1.${at}.${body}`).digest("base64")}`;
}

function headers(signature = sign(), at = AT) {
  return { "Webhook-Id": "e1", "webhook-timestamp": at, "webhook-signature": signature };
}

const webhook = new Webhook(SECRET, () => NOW_MS);

test("a genuine webhook gives its event, from text, bytes and Headers", async () => {
  assert.equal((await webhook.verify(BODY, headers())).id, "e1");
  const bytes = new TextEncoder().encode(BODY);
  assert.equal((await webhook.verify(bytes, new Headers(headers()))).type, "ticket.created");
});

test("one valid signature of several is enough, as after a rotation", async () => {
  const old = sign(BODY, AT, Buffer.alloc(32, 8));
  const event = await webhook.verify(BODY, headers(`v1a,x ${old} ${sign()}`));
  assert.equal(event.id, "e1");
});

for (const [name, body, given] of [
  ["another body", `${BODY} `, headers()],
  ["no signature", BODY, { ...headers(), "webhook-signature": undefined }],
  ["another secret", BODY, headers(sign(BODY, AT, Buffer.alloc(32, 8)))],
  ["an old timestamp", BODY, headers(sign(BODY, String(+AT - 301)), String(+AT - 301))],
  ["a timestamp of the future", BODY, headers(sign(BODY, String(+AT + 301)), String(+AT + 301))],
  ["a date", BODY, headers(sign(), "2026-01-01")],
  ["something that is not Base64", BODY, headers("v1,%%%")],
]) {
  test(`${name} is refused`, () => assert.rejects(webhook.verify(body, given), InvalidWebhook));
}

test("the secret of an API key is refused", () => {
  assert.throws(() => new Webhook("ab".repeat(32)), InvalidConfiguration);
});

test("the secret of a new webhook is read by its name, and in no log or JSON", async () => {
  const made = () => json({ data: { id: "1", url: "https://a.test/", secret: SECRET } });
  const { desk } = deskWith([made(), made()]);
  const created = await desk.webhooks.create({ url: "https://a.test/", events: ["*"] });
  for (const endpoint of [created, await desk.webhooks.rotateSecret("1")]) {
    assert.equal(endpoint.secret, SECRET);
    const shown = [inspect(endpoint), JSON.stringify({ endpoint }), inspect({ ...endpoint })];
    shown.push(`${inspect(new Error("x", { cause: endpoint }))}`);
    assert.ok(shown.every((text) => !text.includes("whsec_") && !text.includes("secret")), shown);
    assert.match(shown[0], /https:\/\/a\.test/);
  }
});

test("no object of the client shows a secret", () => {
  const { desk } = deskWith([]);
  for (const each of [desk, desk.webhooks, webhook]) {
    const shown = inspect(each, { depth: 9, showHidden: true }) + JSON.stringify(each);
    assert.ok(!shown.includes(API_SECRET) && !shown.includes(SECRET), shown);
    assert.ok(!shown.includes(BYTES.toString("base64")), shown);
  }
});
