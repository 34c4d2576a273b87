"""Reply addresses with a token, and hashes of Message-IDs."""

from sealdesk.crypto.reply_codes import find_reply_code, new_reply_code
from sealdesk.mail.threads import rules

TOKEN = "a" * 13 + "7" * 13


def test_a_token_has_128_bits_and_is_random() -> None:
    tokens = {new_reply_code() for _ in range(100)}
    assert len(tokens) == 100
    # 26 characters of base32 hold 130 bits, of which the last two are zero.
    assert all(find_reply_code(f"desk+{token}@a.test") == token for token in tokens)


def test_a_reply_address_contains_the_token() -> None:
    address = rules.reply_address("desk@acme.test", TOKEN)
    assert address == f"desk+{TOKEN}@acme.test"
    assert find_reply_code(address) == TOKEN
    assert rules.mailbox_address(address) == "desk@acme.test"


def test_the_address_of_a_mailbox_may_have_a_tag_itself() -> None:
    address = rules.reply_address("desk+shop@acme.test", TOKEN)
    assert rules.mailbox_address(address) == "desk+shop@acme.test"


def test_a_token_is_found_in_upper_case() -> None:
    assert find_reply_code(f"DESK+{TOKEN.upper()}@ACME.TEST") == TOKEN


def test_a_long_local_part_leaves_no_room_for_a_token() -> None:
    address = f"{'d' * 40}@acme.test"
    assert rules.reply_address(address, TOKEN) == address


def test_other_addresses_have_no_token() -> None:
    others = (
        "",
        "desk",
        "desk@acme.test",
        f"{TOKEN}@acme.test",
        f"desk+{TOKEN[1:]}@acme.test",
        f"desk+{TOKEN}a@acme.test",
        f"desk@{TOKEN}+{TOKEN}",
        f"desk+{TOKEN}+x@acme.test",
        f"desk+{TOKEN}\n@acme.test",
    )
    assert [each for each in others if find_reply_code(each) is not None] == []
    assert [each for each in others if rules.mailbox_address(each) != each] == []


def test_the_hash_of_a_message_id_is_the_same_with_and_without_brackets() -> None:
    assert rules.message_hash("<a@b>") == rules.message_hash(" a@b ")
    assert rules.message_hash("<a@b>") != rules.message_hash("<A@b>")
