// Signs each request before it is sent, with the variables api_key and api_secret.
// The guide: docs/api/signing.md of Sealdesk.
const crypto = require("crypto-js");

const filled = (text) => pm.variables.replaceIn(text || "");
const hex = (hash) => hash.toString(crypto.enc.Hex);

// What a URL cannot hold is encoded now, so that what is signed is what is sent.
const target = filled(pm.request.url.getPathWithQuery()).replace(
  /[^!$%&()*+,./0-9:;=?@A-Z_a-z~-]/gu,
  (character) => (character === "'" ? "%27" : encodeURIComponent(character)),
);
const body = pm.request.body;
const sent = body && body.mode === "raw" ? filled(body.raw) : "";
if (sent) pm.request.body.update({ mode: "raw", raw: sent });

const timestamp = String(Math.floor(Date.now() / 1000));
const method = pm.request.method;
const message = timestamp + method + target + hex(crypto.SHA256(sent));
const signature = hex(crypto.HmacSHA256(message, filled("{{api_secret}}")));

pm.request.url.update(filled("{{base_url}}") + target);
pm.request.headers.upsert({ key: "x-api-key", value: filled("{{api_key}}") });
pm.request.headers.upsert({ key: "x-api-timestamp", value: timestamp });
pm.request.headers.upsert({ key: "x-api-signature", value: signature });
