"""Mistakes in the HMAC key, in the calculation, and in the form of the headers."""

from sealdesk.crypto.mistakes.mistake import Mistake
from sealdesk.errors.problem_type import gettext_noop as _

_CHARACTERS_OF_SECRET = _("Use its 64 characters as they are as the HMAC key.")

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
        "secret_cut_off",
        _("The secret is not complete: a few characters at its start or its end are missing."),
        _("Copy all 64 characters of it."),
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
