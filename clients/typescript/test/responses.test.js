import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AuthenticationFailed,
  Desk,
  InvalidConfiguration,
  InvalidSignature,
  UnexpectedResponse,
  Unprocessable,
  responseOf,
} from "../dist/index.js";
import { KEY, NOW_MS, SECRET, deskWith, json, problem } from "./support.js";

test("the clock is corrected once by the time of the service", async () => {
  const at = NOW_MS / 1000 + 3600;
  const { desk, requests, warnings } = deskWith([
    problem(401, "timestamp_out_of_range", { server_time: at }),
    json({ data: { name: "n" } }),
    problem(401, "timestamp_out_of_range", { server_time: at }),
    problem(401, "timestamp_out_of_range", { server_time: at }),
  ]);
  await desk.whoami();
  assert.equal(requests[1].headers["x-api-timestamp"], String(at));
  assert.match(warnings[0], /clock of this machine is 3600 s behind/);
  await assert.rejects(desk.whoami(), /clock of this machine is wrong/);
  assert.equal(requests.length, 4);
});

test("control characters of a response are escaped in messages", async () => {
  const errors = [{ pointer: "/x", message: "\u009b2J" }];
  const detail = "a\u001b[31m\nb\u202e ü 日";
  const { desk } = deskWith([problem(422, "validation_failed", { detail, errors })]);
  await assert.rejects(desk.whoami(), (error) => {
    assert.ok(error instanceof Unprocessable && error.detail === detail);
    assert.match(error.message, /a\\u\{1b\}\[31m\\u\{a\}b\\u\{202e\} ü 日 \/x: \\u\{9b\}2J/);
    return true;
  });
});

test("a refusal shows code, detail, diagnosis and request id", async () => {
  const members = { diagnosis: "newline_appended", request_id: "r1" };
  const { desk } = deskWith([1, 2].map(() => problem(401, "invalid_signature", members)));
  await assert.rejects(desk.whoami(), (error) => {
    assert.ok(error instanceof InvalidSignature && error instanceof AuthenticationFailed);
    assert.deepEqual([error.diagnosis, error.requestId], ["newline_appended", "r1"]);
    assert.match(error.message, /about invalid_signature Diagnosis: newline_appended\..*\(request r1\)/);
    return !error.message.includes(SECRET);
  });
});

test("a proxy that changes the path is named", async () => {
  const received = { method: "GET", request_target: "/inner/whoami" };
  const { desk } = deskWith([1, 2].map(() => problem(401, "invalid_signature", { received })));
  await assert.rejects(desk.whoami(), /A proxy changes requests.*\/inner\/whoami/);
});

test("unknown members and values of a result are kept", async () => {
  const { desk } = deskWith([json({ data: { id: "1", status: "thinking", mood: "good" } })]);
  const ticket = await desk.tickets.get("1");
  assert.deepEqual([ticket.status, ticket["mood"]], ["thinking", "good"]);
});

for (const [name, options, message] of [
  ["the secret has a space", { apiSecret: `${SECRET} ` }, /apiSecret has a space/],
  ["key and secret are swapped", { apiKey: SECRET, apiSecret: KEY }, /swapped/],
  ["the key is the secret", { apiSecret: KEY }, /apiSecret holds the API key/],
  ["the secret is cut off", { apiSecret: SECRET.slice(1) }, /63 characters instead of 64/],
  ["the URL has the path of the API", { baseUrl: "https://a.example/api/v1" }, /use https:\/\/a.example/],
  ["the URL has no scheme", { baseUrl: "desk.example.com" }, /baseUrl must be/],
]) {
  test(`nothing is sent if ${name}`, () => {
    const right = { apiKey: KEY, apiSecret: SECRET, baseUrl: "https://desk.example.com" };
    assert.throws(
      () => new Desk({ ...right, ...options }),
      (error) => {
        assert.ok(error instanceof InvalidConfiguration);
        assert.doesNotMatch(error.message, /cdcdcd|abab/);
        return message.test(error.message);
      },
    );
  });
}

test("no text form of a desk shows the secret", async () => {
  const { inspect } = await import("node:util");
  const { desk } = deskWith([]);
  assert.doesNotMatch(inspect(desk, { depth: 9, showHidden: true }) + JSON.stringify(desk), /cdcd/);
});

test("the headers of a success are readable, and a result is a condition", async () => {
  const ticket = { data: { id: "1" } };
  const headers = { etag: '"1.2"', "x-request-id": "r", ratelimit: '"key";r=9' };
  const list = json({ data: [{ id: "1" }], meta: {} }, { headers });
  const { desk, requests } = deskWith([json(ticket, { headers }), json(ticket, { headers }), list]);
  const read = await desk.tickets.get("1");
  const { etag, requestId, headers: received } = responseOf(read);
  assert.deepEqual([etag, requestId, received.get("ratelimit")], ['"1.2"', "r", '"key";r=9']);
  await desk.tickets.update("1", { subject: "b" }, { ifMatch: read });
  assert.equal(requests[1].headers["if-match"], '"1.2"');
  const row = await desk.tickets.list().first();
  await assert.rejects(desk.tickets.update("1", {}, { ifMatch: row }), InvalidConfiguration);
});

test("a deletion and a file have their responses too", async () => {
  const headers = { "x-request-id": "r" };
  const { desk } = deskWith([
    () => new Response(null, { status: 204, headers }),
    () => new Response("a photo", { headers }),
  ]);
  for (const result of [await desk.customers.delete("1"), await desk.attachments.download("1")]) {
    assert.equal(responseOf(result).requestId, "r");
  }
});

test("a response that is too large is refused, and not asked for again", async () => {
  const large = () => new Response(new Uint8Array(16 * 1024 * 1024 + 1));
  const { desk, requests } = deskWith([large, large, large, large]);
  await assert.rejects(desk.whoami(), /larger than 16777216 bytes/);
  assert.equal((await desk.attachments.download("i")).length, 16 * 1024 * 1024 + 1);
  await assert.rejects(desk.attachments.download("i", { maxBytes: 9 }), UnexpectedResponse);
  assert.equal(requests.length, 3);
});

test("an id in another case is the same, and unknown members are not ignored", async () => {
  const { desk, requests } = deskWith([json({ data: { id: "A" } })]);
  assert.equal((await desk.tickets.update("a", { status: "open" })).id, "A");
  assert.equal(requests[0].headers.prefer, "handling=strict");
});
