"""What contradicts the rules or what is stored."""

from sealdesk.web.problems.problem import Problem

_WAIT = ("retry-after",)
_FAULT = {"in": "body", "pointer": "/subject", "code": "required"}

REFUSED: dict[str, Problem] = {
    "not_found": Problem(
        "There is no such path, or no such resource in this tenant. Another tenant's id, an unknown"
        " one and what is no id at all get the same answer.",
        "Check the path, the id, and that the key belongs to the tenant you mean.",
        "There is no such resource. Check the path and the id.",
    ),
    "method_not_allowed": Problem(
        "The path exists, with other methods: `Allow` lists them.",
        "Use one of those.",
        "PUT is not available here; GET, HEAD, PATCH is.",
        headers=("allow",),
    ),
    "request_timeout": Problem(
        "The headers took more than 10 s or the body more than 30 s; the connection is closed.",
        "Send it again, signed anew.",
        "The request did not arrive within 30 s. Send it again.",
    ),
    "user_email_taken": Problem(
        "A user of this installation already has the address, whatever its case.",
        "Use another address, or change the existing user.",
        "ada@acme.test is the address of another user.",
    ),
    "customer_email_taken": Problem(
        "A customer of the tenant already has the address, whatever its case: `existing_id`.",
        "Change that customer instead.",
        "A customer with this e-mail address exists; see existing_id.",
        {"existing_id": "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"},
    ),
    "invalid_transition": Problem(
        "A ticket that is closed can only be opened again; `allowed` lists the ways out.",
        "Set the status to open first.",
        "A ticket that is closed can only become open.",
        {"allowed": ["open"]},
    ),
    "ticket_closed": Problem(
        "A closed ticket takes no replies.",
        "Set its status to open first.",
        'A closed ticket takes no replies. Set its status to "open" first.',
    ),
    "idempotency_in_flight": Problem(
        "The first request with this Idempotency-Key is still being answered.",
        "Send the same again after `Retry-After`; the stored answer comes back.",
        "A request with this Idempotency-Key is being answered. Try again in a second.",
        headers=_WAIT,
    ),
    "too_many_webhooks": Problem(
        "A tenant may have 50 webhook endpoints, and this one has them.",
        "Delete one that is not used, or let one endpoint take more event types.",
        "There are 50 webhook endpoints, as many as there may be. Delete one first.",
        {"limit": 50},
    ),
    "webhook_inactive": Problem(
        "Nothing is sent to an endpoint that is paused or was disabled.",
        'Change it with {"is_active": true} first; `disabled_reason` says why it was disabled.',
        "The endpoint is paused. Activate it first.",
    ),
    "replay_in_progress": Problem(
        "The events of another range of time are being delivered to this endpoint again.",
        "Wait until that replay has its `finished_at`, then ask for the next one.",
        "A replay to this endpoint is under way. Wait until it has its finished_at.",
    ),
    "cursor_expired": Problem(
        "Events are kept for 30 days, and some behind this cursor have been deleted: going on from"
        " it would skip them without a word.",
        "Ask with `start=latest` and keep the `resume_cursor`, then read tickets and customers once"
        " in full, then go on from that cursor.",
        "Events behind this cursor were deleted after 30 days. Begin again with start=latest, then"
        " read tickets and customers once in full, then go on from its resume_cursor.",
    ),
    "version_mismatch": Problem(
        "Somebody changed the resource since the version that If-Match names: `current`.",
        "Read it again, apply the change to what it is now, and send the new ETag.",
        'It is "4.2" now, and If-Match says otherwise. Read it again and repeat the change.',
        {"current": '"4.2"'},
    ),
    "body_too_large": Problem(
        "The body is over 1 MiB; the rest of it is not read.",
        "Send less.",
        "The body is over 1048576 bytes.",
        {"max_bytes": 1048576},
    ),
    "unsupported_media_type": Problem(
        "The body is not declared as JSON, or is compressed.",
        "Send Content-Type: application/json (a PATCH may say application/merge-patch+json), and no"
        " Content-Encoding: the signature covers the bytes as they travel.",
        "Send the body with Content-Type: application/json.",
    ),
    "validation_failed": Problem(
        "The body can be read and breaks rules. `errors` names up to 100 of them, each with a JSON"
        " pointer to the field, a code and a sentence. Nothing was stored.",
        "Mend the named fields and send it again; the same Idempotency-Key may be used.",
        "One field breaks a rule; see `errors`. Nothing was stored.",
        {"errors": [{**_FAULT, "message": "This field is required."}]},
    ),
    "idempotency_key_reused": Problem(
        "The Idempotency-Key was used within 24 hours with another body.",
        "Use a new key for a new request, and the same body for a repeated one.",
        "This Idempotency-Key was used for another body within 24 hours. Use a new key for a new"
        " request, and the same body for a repeated one.",
    ),
}
