/** A server with faults, on a real socket. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { ConnectionFailed, Desk, UnexpectedResponse } from "../dist/index.js";
import { KEY, SECRET } from "./support.js";

/** Plays the answers in turn; yields a desk and the headers of the requests that arrived. */
async function withServer(answers, act) {
  const arrived = [];
  const server = createServer((request, response) => {
    arrived.push(request.headers);
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => answers.shift()(response, Buffer.concat(chunks)));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  const sleep = async () => undefined;
  try {
    await act(new Desk({ apiKey: KEY, apiSecret: SECRET, baseUrl, sleep }), arrived);
  } finally {
    server.closeAllConnections?.();
    await new Promise((closed) => server.close(closed));
  }
}

const whoami = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end('{"data":{"name":"n"}}');
};
const hangUp = (response) => response.socket.destroy();
const cutOff = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "999" });
  response.write('{"data":');
  setTimeout(() => response.socket.destroy(), 20);
};

test("a broken connection and a cut-off response are repeated, each signed anew", async () => {
  await withServer([hangUp, cutOff, whoami], async (desk, arrived) => {
    assert.equal((await desk.whoami()).name, "n");
    assert.equal(new Set(arrived.map((each) => each["x-api-signature"])).size, 3);
  });
});

test("a redirect to another server carries no key there", async () => {
  await withServer([whoami], async (other, elsewhere) => {
    const redirect = (response) => response.writeHead(307, { location: other.baseUrl }).end();
    await withServer([redirect], async (desk) => {
      await assert.rejects(desk.whoami(), UnexpectedResponse);
    });
    assert.deepEqual(elsewhere, []);
  });
});

test("a server that is not there is named", async () => {
  let gone;
  await withServer([], async (desk) => void (gone = desk));
  await assert.rejects(gone.whoami(), (error) => {
    assert.ok(error instanceof ConnectionFailed);
    return error.message.includes(gone.baseUrl);
  });
});

test("a proxy that asks for a password is not named with an empty reason", async () => {
  const refuse = (response) => response.writeHead(407, { "proxy-authenticate": "Basic" }).end();
  await withServer(Array(9).fill(refuse), async (desk) => {
    await assert.rejects(desk.whoami(), (error) => !error.message.includes(": ;"));
  });
});

test("a server that is silent ends with the time limit", async () => {
  await withServer([() => undefined], async (patient) => {
    const { baseUrl } = patient;
    const retry = { retries: 0 };
    const desk = new Desk({ apiKey: KEY, apiSecret: SECRET, baseUrl, timeoutMs: 50, retry });
    await assert.rejects(desk.whoami(), ConnectionFailed);
  });
});

test("a header and a body that arrive byte by byte end with the deadline", async () => {
  const drip = (start) => (response) => {
    const { socket } = response;
    socket.write(start);
    const timer = setInterval(() => socket.write("1"), 20);
    socket.on("close", () => clearInterval(timer));
  };
  const body = "HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n";
  await withServer([drip("HTTP/1.1 200 OK\r\nx-slow: "), drip(body)], async (desk) => {
    for (const hasty of [1, 2].map(() => desk.withOptions({ deadlineMs: 200 }))) {
      await assert.rejects(hasty.whoami(), ConnectionFailed);
    }
  });
});
