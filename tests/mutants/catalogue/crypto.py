"""Mutants of `crypto`."""

from tests.mutants.mutant import Mutant

_DIAGNOSES = "tests/crypto/test_diagnoses.py"
_KEYS = "tests/api_keys"
_LIBRARIES = "tests/webhooks/test_verifying_libraries.py::test_the_libraries_verify"
_LISTEN = "tests/cli/test_webhooks_listen.py"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "only the first characters of a signature are compared",
        "crypto/signing.py",
        "        return hmac.compare_digest(outer.hexdigest().encode(), signature)\n",
        "        return outer.hexdigest().encode()[:8] == signature[:8]\n",
        (
            f"{_KEYS}/test_bit_changes.py::test_no_change_of_one_bit_is_accepted",
            "tests/crypto/test_signing.py::test_signature_is_compared_in_constant_time",
        ),
    ),
    Mutant(
        "signatures are compared with ==",
        "crypto/signing.py",
        "        return hmac.compare_digest(outer.hexdigest().encode(), signature)\n",
        "        return outer.hexdigest().encode() == signature\n",
        ("tests/crypto/test_signing.py::test_signature_is_compared_in_constant_time",),
    ),
    Mutant(
        "the body is left out of the message",
        "crypto/signing.py",
        "return head(parts) + body_sha256(parts.body)\n",
        "return head(parts) + _EMPTY_SHA256\n",
        ("tests/crypto/test_signing.py::test_signature_of_a_vector",),
    ),
    Mutant(
        "a diagnosis confirms the beginning of a secret",
        "crypto/diagnosis/keys.py",
        "_MISSING_CHARACTERS = range(1, 5)\n",
        "_MISSING_CHARACTERS = range(1, 64)\n",
        (f"{_DIAGNOSES}::test_a_secret_is_never_guessed_character_by_character",),
    ),
    Mutant(
        "a lost line end is taken for another serialisation",
        "crypto/diagnosis/bodies.py",
        '        yield "newlines_not_sent", rest\n',
        "        pass\n",
        (f"{_DIAGNOSES}::test_each_mistake_of_developers_is_named",),
    ),
    Mutant(
        "the timestamp of a webhook is not signed",
        "crypto/webhook_signing.py",
        'f"{webhook_id}.{timestamp}.".encode()',
        'f"{webhook_id}.".encode()',
        (
            f"{_LIBRARIES}_a_thousand_deliveries",
            f"{_LISTEN}::test_new_events_arrive_byte_for_byte_with_valid_signatures",
            "tests/crypto/test_webhook_signing.py::test_the_official_library_agrees",
        ),
    ),
    Mutant(
        "the age of a webhook is not checked",
        "crypto/webhook_signing.py",
        "    if age_s > TOLERANCE_S:\n",
        "    if age_s > TOLERANCE_S * 100:\n",
        ("tests/crypto/test_webhook_signing.py::test_the_mistake_is_named",),
    ),
    Mutant(
        "a sealed file belongs to every tenant",
        "crypto/sealed_file.py",
        "    return header + about.encode()\n",
        "    return header\n",
        (
            "tests/crypto/test_sealed_file.py"
            "::test_a_sealed_file_opens_for_no_other_tenant_and_under_no_other_key",
        ),
    ),
    Mutant(
        "the last chunk of an encrypted file is not marked",
        "crypto/encrypted_file.py",
        "bytes([is_last])",
        "bytes([0])",
        (
            "tests/db/test_backup_archive.py"
            "::test_chunks_of_an_encrypted_file_cannot_be_exchanged_or_cut_off",
        ),
    ),
    Mutant(
        "the chunks of an encrypted file are not numbered",
        "crypto/encrypted_file.py",
        "    return number.to_bytes",
        "    return (0).to_bytes",
        (
            "tests/db/test_backup_archive.py"
            "::test_chunks_of_an_encrypted_file_cannot_be_exchanged_or_cut_off",
        ),
    ),
)
