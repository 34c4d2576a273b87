"""Mistakes in the message that is signed: its parts, the target, and the body."""

from sealdesk.crypto.mistakes.mistake import Mistake
from sealdesk.errors.problem_type import gettext_noop as _

_HASH_WHAT_IS_SENT = _("Hash exactly the bytes that are sent.")
_NO_SEPARATORS = _("Join the four parts without a separator.")
_SIGN_AS_SENT = _("Sign the path and the query exactly as they are sent.")

OF_THE_PARTS = (
    Mistake(
        "method_lowercase",
        _("The method was signed in lower case."),
        _("Sign it in upper case, as in POST."),
    ),
    Mistake(
        "method_not_signed",
        _("The method was not signed."),
        _("Sign the timestamp, the method, the path with the query, and the hash of the body."),
    ),
    Mistake(
        "method_differs",
        _("Another method was signed than the request has."),
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
        "query_sorted",
        _("The parameters of the query were signed in another order than they were sent."),
        _("Do not sort the query, or send it sorted too."),
    ),
    Mistake(
        "space_encoding_differs",
        _("A space was signed as “%20” and sent as “+”, or the other way round."),
        _("Build the query once, then sign and send the same text."),
    ),
    Mistake(
        "percent_encoding_case",
        _("Percent signs were signed with other letter case, as %c3 for %C3."),
        _SIGN_AS_SENT,
    ),
    Mistake(
        "target_percent_decoded",
        _("The decoded path was signed."),
        _("Sign it as it is sent, with its percent signs."),
    ),
    Mistake(
        "target_percent_encoded",
        _("The path or the query was percent-encoded before it was signed, but not as it is sent."),
        _SIGN_AS_SENT,
    ),
    Mistake(
        "full_url_signed", _("The whole URL was signed."), _("Sign only the path and the query.")
    ),
    Mistake(
        "host_signed",
        _("The host was signed in front of the path."),
        _("Sign only the path and the query."),
    ),
    Mistake(
        "api_prefix_missing",
        _("The start of the path was not signed."),
        _("Sign the whole path, with the prefix of a proxy in front of /api if there is one."),
    ),
    Mistake(
        "leading_slash_missing",
        _("The path was signed without the slash at its start."),
        _("Sign the path with its first slash."),
    ),
    Mistake(
        "target_not_signed",
        _("Neither the path nor the query was signed."),
        _("Sign the timestamp, the method, the path with the query, and the hash of the body."),
    ),
    Mistake(
        "target_differs",
        _("Another path or query was signed than has arrived."),
        _("Sign the path and the query as they are sent, and let no proxy change them."),
    ),
    Mistake(
        "trailing_slash_differs",
        _("The path was signed with a slash at its end and sent without it, or the reverse."),
        _SIGN_AS_SENT,
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
        "body_hash_uppercase",
        _("The hash of the body was signed in upper case."),
        _("Sign it in lower-case hex."),
    ),
    Mistake(
        "body_hash_not_hex",
        _("The hash of the body was signed as raw bytes or in Base64."),
        _("Sign it in lower-case hex."),
    ),
    Mistake(
        "body_hash_other_algorithm",
        _("The body was hashed with another algorithm, such as MD5, SHA-1 or SHA-512."),
        _("Hash it with SHA-256."),
    ),
    Mistake(
        "newline_not_signed",
        _("The body was sent with a line break at its end, which was not hashed."),
        _("“$(cat file)” drops it and “--data-binary @file” sends it: hash the file itself."),
    ),
    Mistake(
        "newlines_not_sent",
        _("The body was hashed with line breaks that were not sent."),
        _("“curl -d @file” removes them: send the file with “--data-binary @file”."),
    ),
    Mistake(
        "line_ends_differ",
        _("The body was hashed with other line ends than it was sent with: CR LF against LF."),
        _HASH_WHAT_IS_SENT,
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
        "body_reserialised_pretty",
        _("The body was hashed as indented JSON, but sent in another form."),
        _HASH_WHAT_IS_SENT,
    ),
    Mistake(
        "body_reserialised_sorted",
        _("The body was hashed with the names of its objects sorted, but sent in another order."),
        _HASH_WHAT_IS_SENT,
    ),
    Mistake(
        "body_slashes_escaped",
        _("Slashes were escaped as \\/ in the body that was hashed or in the one that was sent."),
        _("Serialise the body once, then hash and send the same bytes."),
    ),
    Mistake(
        "body_encoded_twice",
        _("The body was encoded as JSON twice, either the one that was hashed or the one sent."),
        _("Pass the value itself to the HTTP library, not JSON text, or send the text as it is."),
    ),
    Mistake(
        "body_differs",
        _("The hash of another body was signed than has arrived."),
        _("Hash exactly the bytes that are sent, and let no proxy change them."),
    ),
    Mistake(
        "body_encoding_differs",
        _("The body was hashed in another character encoding than it was sent in, as Latin-1."),
        _("Encode the body as UTF-8 without a byte order mark, then hash and send these bytes."),
    ),
)
