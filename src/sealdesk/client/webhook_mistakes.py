"""The meaning of each mistake in a webhook, and how to correct it."""

from sealdesk.crypto.webhook_signing import Mistake

MEANINGS: dict[Mistake, str] = {
    "secret_is_a_signature": "the given secret begins with v1, which is the form of a signature."
    " A secret begins with whsec_; Sealdesk shows it when you create the endpoint or rotate"
    " its secret.",
    "secret_of_the_api": "the given secret belongs to an API key, which signs requests to"
    " Sealdesk. An endpoint has its own secret, which begins with whsec_.",
    "secret_malformed": "the secret is not whsec_ and 44 characters of base64. Was it cut off, or"
    " copied with quotes or spaces?",
    "id_missing": "the header webhook-id is missing. Capture all headers; a proxy may have"
    " dropped it.",
    "timestamp_missing": "the header webhook-timestamp is missing. Capture all headers; a proxy"
    " may have dropped it.",
    "signature_missing": "the header webhook-signature is missing. Capture all headers; a proxy"
    " may have dropped it.",
    "body_missing": "the body is empty. A framework that has parsed the body may leave nothing to"
    " read: read the raw body first.",
    "timestamp_milliseconds": "the timestamp is in milliseconds. It must be in whole seconds.",
    "timestamp_not_seconds": "the timestamp is not in whole seconds since 1970. Use the header as"
    " received, not a date made from it.",
    "signature_hex": "the signature is in hex. It must be v1, followed by base64 (the same bytes"
    " in another encoding).",
    "signature_url_safe": "the signature is in URL-safe base64, with - and _ or without the = at"
    " its end. It must be in standard base64, with + and /.",
    "signature_without_version": "the signature lacks v1, before the base64. Pass on the whole"
    " header.",
    "signature_malformed": "the signature is not v1, and 44 characters of base64. Was it cut off?",
    "body_newline": "the signed body differs only in a line break, spaces or a byte order mark at"
    " its start or end. Editors and echo add a line break; printf %s and curl --data-binary do"
    " not.",
    "body_reserialised": "the body was parsed and serialised again: the same JSON, but other"
    " bytes. Verify the raw bytes, before anything parses them.",
    "body_encoded_twice": "the body was decoded and encoded again: as Latin-1, or as a string"
    " within JSON. Verify the raw bytes, before anything reads them as text.",
    "body_hashed": "the hash of the body was signed, as for requests to Sealdesk. A webhook signs"
    " the body itself.",
    "id_not_signed": "timestamp.body was signed. It must be id.timestamp.body.",
    "timestamp_not_signed": "id.body was signed. It must be id.timestamp.body.",
    "only_body_signed": "only the body was signed. It must be id.timestamp.body.",
    "dots_not_signed": "id, timestamp and body were signed without the dots between them. It must"
    " be id.timestamp.body.",
    "secret_not_decoded": "the secret was used as text. The HMAC key is the part after whsec_,"
    " decoded from base64: 32 bytes.",
    "signature_mismatch": "the signature was not made with this secret for this id, timestamp and"
    " body. Most often the secret belongs to another endpoint, or was rotated more than 24"
    " hours ago; otherwise one of the three was changed on the way.",
    "timestamp_too_old": "the signature is right, but it is older than five minutes, and"
    " receivers refuse it. If you captured it a while ago, ignore this with --any-age. If not,"
    " one of the two clocks is wrong, or the webhook waited in a queue before it was verified.",
    "timestamp_in_future": "the signature is right, but its timestamp is more than five minutes"
    " in the future: one of the two clocks is wrong.",
}
