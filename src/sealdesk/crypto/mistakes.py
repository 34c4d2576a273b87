"""The known mistakes in signed requests: what is wrong, and what to do instead.

From this table come the `detail` of refusals, the enum of `diagnosis` in OpenAPI, the texts of the
signature debugger, and the sections of `/docs/errors`.
"""

from typing import Literal, NamedTuple

from sealdesk.errors.problem_type import gettext_noop as _

Code = Literal["invalid_signature", "malformed_credentials", "timestamp_not_seconds", ""]


class Mistake(NamedTuple):
    """A mistake. Its name is the value of `diagnosis`, and never changes its meaning.

    fault: one sentence. remedy: one or two sentences.
    code: the error code that it is found with, "" for one that only the debugger can see.
    """

    name: str
    fault: str
    remedy: str
    code: Code = "invalid_signature"


_CHARACTERS_OF_SECRET = _("Use its 64 characters as they are as the HMAC key.")
_HASH_WHAT_IS_SENT = _("Hash exactly the bytes that are sent.")
_NO_SEPARATORS = _("Join the four parts without a separator.")
_ALL_PARTS = _("Sign the timestamp, the method, the path with the query, and the hash of the body.")

OF_THE_PARTS = (
    Mistake(
        "method_lowercase",
        _("The method was signed in lower case."),
        _("Sign it in upper case, as in POST."),
    ),
    Mistake(
        "method_differs",
        _("Another method was signed than the request has, or none."),
        _("Sign the method that is sent. A redirect may have changed it: call the final URL."),
    ),
    Mistake(
        "timestamp_not_signed",
        _("The timestamp was not signed."),
        _("Sign the text of x-api-timestamp, then the method, the path and the hash of the body."),
    ),
    Mistake(
        "timestamp_differs",
        _("Another timestamp was signed than the one in x-api-timestamp."),
        _("Read the clock once, and use the same text for the signature and the header."),
    ),
    Mistake(
        "parts_in_another_order",
        _("The parts were signed in another order."),
        _("The order is timestamp, method, path with query, hash of the body."),
    ),
    Mistake("newline_separators", _("The parts were joined with line breaks."), _NO_SEPARATORS),
    Mistake("dot_separators", _("The parts were joined with dots."), _NO_SEPARATORS),
    Mistake("other_separators", _("The parts were joined with a separator."), _NO_SEPARATORS),
    Mistake(
        "other_text_signed",
        _("Something besides the four parts was signed, such as a header or the API key."),
        _(
            "Sign the timestamp, the method, the path with the query and the hash of the body, and"
            " nothing else."
        ),
    ),
    Mistake(
        "newline_appended",
        _("A line break after the message, the body or the secret was signed."),
        _("“echo” adds one and “printf %s” does not; curl sends none with “-d @file”."),
    ),
)
OF_THE_TARGET = (
    Mistake(
        "query_string_not_signed",
        _("The query was not signed."),
        _("Sign the path with “?” and everything after it, exactly as sent."),
    ),
    Mistake(
        "trailing_question_mark",
        _("A “?” without a query was signed."),
        _("Sign the path without it."),
    ),
    Mistake(
        "target_percent_decoded",
        _("The decoded path was signed."),
        _("Sign it as it is sent, with its percent signs."),
    ),
    Mistake(
        "full_url_signed", _("The whole URL was signed."), _("Sign only the path and the query.")
    ),
    Mistake(
        "api_prefix_missing",
        _("The start of the path was not signed."),
        _("Sign the whole path, with the prefix of a proxy in front of /api if there is one."),
    ),
    Mistake(
        "target_not_signed",
        _("Neither the path nor the query was signed."),
        _ALL_PARTS,
    ),
    Mistake(
        "target_differs",
        _("Another path or query was signed than has arrived."),
        _("Sign the path and the query as they are sent, and let no proxy change them."),
    ),
)
OF_THE_BODY = (
    Mistake(
        "body_not_hashed",
        _("The body itself was signed."),
        _("Sign the SHA-256 of its bytes in lower-case hex, even for an empty body."),
    ),
    Mistake(
        "body_omitted",
        _("The body was not signed."),
        _("Sign the SHA-256 of the bytes that are sent."),
    ),
    Mistake(
        "body_not_sent",
        _("A body such as {} was hashed, but the request has no body."),
        _("Without a body, hash the empty string."),
    ),
    Mistake(
        "newline_not_signed",
        _("The body was sent with a line break at its end, which was not hashed."),
        _("“$(cat file)” drops it and “--data-binary @file” sends it: hash the file itself."),
    ),
    Mistake(
        "body_reserialised_compact",
        _("The body was serialised again without spaces before it was hashed."),
        _HASH_WHAT_IS_SENT,
    ),
    Mistake(
        "body_reserialised_default",
        _("The body was serialised again with other spaces before it was hashed."),
        _HASH_WHAT_IS_SENT,
    ),
    Mistake(
        "body_differs",
        _("What was signed is not the SHA-256 in lower-case hex of the body that has arrived."),
        _(
            "Hash exactly the bytes that are sent, and let no proxy change them. “curl -d @file”"
            " removes line breaks, and “--data-binary @file” does not."
        ),
    ),
)
OF_THE_SECRET = (
    Mistake("secret_hex_decoded", _("The secret was decoded from hex."), _CHARACTERS_OF_SECRET),
    Mistake(
        "secret_base64_decoded", _("The secret was decoded from Base64."), _CHARACTERS_OF_SECRET
    ),
    Mistake("secret_uppercase", _("The secret was changed to upper case."), _CHARACTERS_OF_SECRET),
    Mistake(
        "secret_quoted",
        _("Quotes, spaces or other text around the secret became part of the HMAC key."),
        _("Use the 64 characters alone: look where the secret is stored, as in an .env file."),
    ),
    Mistake(
        "secret_empty",
        _("The HMAC key was empty or a placeholder: the secret was not loaded."),
        _("Check the environment variable or the file that has the secret."),
    ),
    Mistake(
        "secret_and_message_swapped",
        _("The secret and the message were passed to the HMAC function in the wrong order."),
        _("The secret is the key, and the message is what is signed."),
    ),
    Mistake(
        "signed_with_api_key",
        _("The API key was used as the HMAC key."),
        _("Sign with the API secret."),
    ),
    Mistake(
        "secret_as_signature",
        _("The secret itself was sent as the signature: whoever saw the request knows it."),
        _("Rotate the key, then send an HMAC made with the new secret."),
    ),
    Mistake(
        "hash_instead_of_hmac",
        _("A plain SHA-256 was sent as the signature, with the secret as part of the text or not."),
        _("Calculate an HMAC-SHA256 with the secret as its key."),
    ),
    Mistake(
        "message_hashed_first",
        _("The message was hashed before it was signed."),
        _("Pass the message itself to HMAC-SHA256."),
    ),
    Mistake(
        "secret_of_another_key",
        _("The secret of another API key of this tenant was used."),
        _("Use the secret that was shown together with this API key."),
    ),
    Mistake(
        "secret_of_test_key",
        _("The secret of a test key was used with a live key."),
        _("Use the secret that was shown together with this API key, or the test key itself."),
    ),
    Mistake(
        "secret_of_webhook",
        _("The secret of a webhook was used. It verifies what Sealdesk sends."),
        _("Sign requests with the secret that was shown together with this API key."),
    ),
    Mistake(
        "secret_or_algorithm_differs",
        _("The signature is not the HMAC-SHA256 of x-api-signed-message with this key's secret."),
        _(
            "Check which secret the program has loaded, and that its 64 characters are the key of"
            " an HMAC-SHA256 of exactly this message."
        ),
    ),
    Mistake(
        "signed_message_old",
        _("No mistake is known, and x-api-signed-message has no time within the allowed skew."),
        _(
            "Sign the text of x-api-timestamp, and send the message that was signed for this"
            " request."
        ),
    ),
    Mistake(
        "signed_message_malformed",
        _("No mistake is known, and x-api-signed-message is not Base64 of at most 4096 bytes."),
        _("Send the exact bytes that were signed, in Base64, in one such header."),
    ),
    Mistake(
        "unknown",
        _("No known mistake explains this signature."),
        _(
            "Send the message that was signed as x-api-signed-message, in Base64: the refusal then"
            " shows the first difference. If there is none, the secret or the algorithm differs."
        ),
    ),
)
OF_THE_FORM = (
    Mistake(
        "uppercase_hex",
        _("The signature is in upper case."),
        _("Send it in lower-case hex."),
        "malformed_credentials",
    ),
    Mistake(
        "signature_prefixed",
        _("The signature has a prefix, such as sha256= or the one that openssl writes without -r."),
        _("Send only the 64 hex characters."),
        "malformed_credentials",
    ),
    Mistake(
        "signature_base64",
        _("The signature is in Base64."),
        _("Send it in lower-case hex."),
        "malformed_credentials",
    ),
    Mistake(
        "signature_other_algorithm",
        _("The signature has the length of another algorithm, such as SHA-512 or SHA-1."),
        _("Calculate an HMAC-SHA256, which has 64 hex characters."),
        "malformed_credentials",
    ),
    Mistake(
        "signature_not_hex",
        _("The signature is not 64 lower-case hex characters."),
        _("Check that all of it was copied, without quotes or spaces."),
        "malformed_credentials",
    ),
    Mistake(
        "secret_as_api_key",
        _("x-api-key has the form of a secret: whoever saw the request knows it."),
        _("Send the API key, which begins with tk_live_, and rotate the key."),
        "malformed_credentials",
    ),
    Mistake(
        "timestamp_milliseconds",
        _("The timestamp is in milliseconds."),
        _("Send and sign whole seconds: ten digits."),
        "timestamp_not_seconds",
    ),
    Mistake(
        "timestamp_not_seconds",
        _("The timestamp is not ten digits."),
        _("Send and sign whole seconds since 1970, as “date +%s” prints them."),
        "malformed_credentials",
    ),
    Mistake(
        "pasted_line_ends",
        _(
            "The signature matches a body with other line breaks, or other white space around it,"
            " than the one you pasted."
        ),
        _(
            "If the request was refused, your program hashed that body and sent another: “echo”,"
            " for example, adds a line break."
        ),
        "",
    ),
)

MISTAKES: dict[str, Mistake] = {
    each.name: each
    for each in (*OF_THE_PARTS, *OF_THE_TARGET, *OF_THE_BODY, *OF_THE_SECRET, *OF_THE_FORM)
}
# The values of `diagnosis` in the API.
DIAGNOSES = tuple(name for name, mistake in MISTAKES.items() if mistake.code)
