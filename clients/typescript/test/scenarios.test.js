/** What both clients do, as tests/client/test_scenarios.py has it of the Python client. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as client from "../dist/index.js";
import { deskWith, failure, json, problem } from "./support.js";

const SCENARIOS = JSON.parse(readFileSync(new URL("scenarios.json", import.meta.url), "utf8"));
const NEW = { subject: "a", description: "b", customer: { email: "a@example.com" } };
const FOUND = { data: { id: "i", status: "asleep", of_tomorrow: [1] } };
const CALLS = {
  create: (desk) => desk.tickets.create(NEW),
  get: (desk) => desk.tickets.get("i"),
  update: (desk) => desk.tickets.update("i", { status: "open" }),
  update_if_match: (desk) => desk.tickets.update("i", { status: "open" }, { ifMatch: '"1.1"' }),
  merge: (desk) => desk.tickets.merge("i", "j"),
  undo_merge: (desk) => desk.tickets.undoMerge("i"),
  list: (desk) => desk.tickets.list().first(),
};

function play({ lost, status, code, members, headers, html, body }) {
  if (lost) return failure("ECONNRESET");
  if (html) return new Response(html, { status, headers: { "content-type": "text/html" } });
  if (code) return problem(status, code, members, headers);
  return body ? json(body) : new Response("", { status, headers });
}

for (const { name, answers, retry, call, raises, says, ...wanted } of SCENARIOS) {
  test(name, async () => {
    const played = answers.flatMap((each) => Array.from({ length: each.times ?? 1 }, () => play(each)));
    played.push(json(FOUND));
    const { base_s: baseS, max_limited_s: maxLimitedS, ...others } = retry ?? {};
    const options = retry ? { retry: { ...others, baseS, maxLimitedS } } : {};
    const { desk, requests, pauses } = deskWith(played, { ...options, random: Math.random });
    const done = CALLS[call](desk);
    if (raises) {
      await assert.rejects(done, (error) => {
        assert.ok(error instanceof client[raises], String(error));
        return new RegExp(says ?? "").test(error.message);
      });
    } else assert.deepEqual((await done).status, "asleep");
    assert.equal(requests.length, wanted.requests);
    assert.equal(pauses.length, wanted.pauses.length);
    wanted.pauses.forEach(([least, most], at) => assert.ok(least <= pauses[at] && pauses[at] <= most));
    for (const [header, count] of Object.entries(wanted.distinct ?? {}))
      assert.equal(new Set(requests.map((each) => each.headers[header])).size, count);
  });
}
