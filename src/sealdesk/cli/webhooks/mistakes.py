"""What each mistake of a webhook means, and what to do about it."""

from sealdesk.crypto.webhook_signing import Mistake

MEANINGS: dict[Mistake, str] = {
    "secret_is_a_signature": "what was given as the secret begins with v1, and is a signature."
    " The secret begins with whsec_; creating the endpoint or rotating its secret showed it.",
    "secret_of_the_api": "what was given as the secret belongs to an API key, which signs requests"
    " to Sealdesk. The endpoint has a secret of its own, which begins with whsec_.",
    "secret_malformed": "the secret is not whsec_ and 44 characters of base64."
    " Was it cut off, or copied with quotes or spaces?",
    "id_missing": "there is no webhook-id. Capture all headers; a proxy may have dropped it.",
    "timestamp_missing": "there is no webhook-timestamp. Capture all headers; a proxy may have"
    " dropped it.",
    "signature_missing": "there is no webhook-signature. Capture all headers; a proxy may have"
    " dropped it.",
    "body_missing": "the body is empty. A framework that has parsed a body may have nothing left:"
    " read the raw body first.",
    "timestamp_milliseconds": "the timestamp is in milliseconds. It is in whole seconds.",
    "timestamp_not_seconds": "the timestamp is not in whole seconds since 1970. Take the header as"
    " it came, not a date that was made of it.",
    "signature_hex": "the signature is in hex. It is base64 after v1, (the same bytes in another"
    " writing).",
    "signature_url_safe": "the signature is in the URL-safe base64, with - and _ or without the ="
    " at its end. It is in the plain one, with + and /.",
    "signature_without_version": "the signature lacks v1, before the base64. Pass the header on"
    " whole.",
    "signature_malformed": "the signature is not v1, and 44 characters of base64. Was it cut off?",
    "body_newline": "the body was signed without the line break, blanks or byte order mark at its"
    " ends, or with one that is missing. Editors and echo add a line break; printf %s and"
    " curl --data-binary do not.",
    "body_reserialised": "the body was parsed and written anew: the same JSON, other bytes."
    " Verify the raw bytes, before anything parses them.",
    "body_encoded_twice": "the body was decoded and encoded again: as Latin-1, or as a string"
    " within JSON. Verify the raw bytes, before anything reads them as text.",
    "body_hashed": "the hash of the body was signed, as requests to Sealdesk are. For a webhook it"
    " is the body itself.",
    "id_not_signed": "timestamp.body was signed. It is id.timestamp.body.",
    "timestamp_not_signed": "id.body was signed. It is id.timestamp.body.",
    "only_body_signed": "the body alone was signed. It is id.timestamp.body.",
    "dots_not_signed": "id, timestamp and body were signed without the dots between them."
    " It is id.timestamp.body.",
    "secret_not_decoded": "the secret was used as text. The key is what follows whsec_, decoded"
    " from base64: 32 bytes.",
    "signature_mismatch": "the signature was not made with this secret for this id, timestamp and"
    " body. Most often it is the secret of another endpoint, or one from before it was rotated"
    " more than 24 hours ago; else one of the three was changed on the way.",
    "timestamp_too_old": "the signature is right, but it is older than five minutes, and receivers"
    " refuse it. If you captured it a while ago all is well: --any-age leaves its age aside."
    " If not, one of the two clocks is wrong, or it waited in a queue before it was verified.",
    "timestamp_in_future": "the signature is right, but it is from more than five minutes in the"
    " future: one of the two clocks is wrong.",
}
