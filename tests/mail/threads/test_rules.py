"""Reply addresses with a token, and hashes of Message-IDs."""

import pytest

from sealdesk.mail.threads import rules

TOKEN = "a" * 13 + "7" * 13


def test_a_token_has_128_bits_and_is_random() -> None:
    tokens = {rules.new_token() for _ in range(100)}
    assert len(tokens) == 100
    # 26 characters of base32 hold 130 bits, of which the last two are zero.
    assert all(rules.token_of(f"desk+{token}@a.test") == token for token in tokens)


def test_a_reply_address_contains_the_token() -> None:
    address = rules.reply_address("desk@acme.test", TOKEN)
    assert address == f"desk+{TOKEN}@acme.test"
    assert rules.token_of(address) == TOKEN
    assert rules.mailbox_address(address) == "desk@acme.test"


def test_the_address_of_a_mailbox_may_have_a_tag_itself() -> None:
    address = rules.reply_address("desk+shop@acme.test", TOKEN)
    assert rules.mailbox_address(address) == "desk+shop@acme.test"


def test_a_token_is_found_in_upper_case() -> None:
    assert rules.token_of(f"DESK+{TOKEN.upper()}@ACME.TEST") == TOKEN


def test_a_long_local_part_leaves_no_room_for_a_token() -> None:
    address = f"{'d' * 40}@acme.test"
    assert rules.reply_address(address, TOKEN) == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "desk",
        "desk@acme.test",
        f"{TOKEN}@acme.test",
        f"desk+{TOKEN[1:]}@acme.test",
        f"desk+{TOKEN}a@acme.test",
        f"desk@{TOKEN}+{TOKEN}",
        f"desk+{TOKEN}+x@acme.test",
        f"desk+{TOKEN}\n@acme.test",
    ],
)
def test_other_addresses_have_no_token(address: str) -> None:
    assert rules.token_of(address) is None
    assert rules.mailbox_address(address) == address


def test_the_hash_of_a_message_id_is_the_same_with_and_without_brackets() -> None:
    assert rules.message_hash("<a@b>") == rules.message_hash(" a@b ")
    assert rules.message_hash("<a@b>") != rules.message_hash("<A@b>")
