import { createHash, createHmac } from "node:crypto";

const url = process.env.SEALDESK_API_URL;
const key = process.env.SEALDESK_API_KEY;
const secret = process.env.SEALDESK_API_SECRET;

// target: encoded path and query. body: JSON text.
async function call(method, target, body = "") {
  const address = new URL(url + target);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const path = address.pathname + address.search;
  const bodyHash = createHash("sha256").update(body).digest("hex");
  const message = timestamp + method + path + bodyHash;
  const signature = createHmac("sha256", secret)
    .update(message)
    .digest("hex");
  return fetch(address, {
    method,
    headers: {
      "x-api-key": key,
      "x-api-timestamp": timestamp,
      "x-api-signature": signature,
      "x-api-signed-message": Buffer.from(message).toString("base64"),
      "content-type": "application/json",
    },
    body: body || undefined,
    redirect: "manual", // the signature is for this address alone
  });
}

const [method = "GET", target = "/api/v1/external/whoami", body] =
  process.argv.slice(2);
const answer = await call(method, target, body);
if (answer.ok) {
  console.log(await answer.text());
} else {
  console.error(await answer.text());
  process.exitCode = 1;
}
