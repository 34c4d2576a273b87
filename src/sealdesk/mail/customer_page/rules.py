"""What a participant may read of a ticket, and how much they may send; no I/O."""

MAX_FILES = 5  # of one reply
MAX_BODY_BYTES = 10 * 1024 * 1024  # of its form, with all files
MAX_TEXT = 20_000
# Raw messages: they hold the addresses and the links of whoever has sent them.
_UNSHOWN = "message/"


def may_read(*, is_customer: bool, joined_at: int, written_at: int) -> bool:
    """The customer reads everything public, others what came after they joined, as by e-mail."""
    return is_customer or written_at >= joined_at


def is_shown(content_type: str) -> bool:
    """Whether a page shows a file of this type."""
    return not content_type.startswith(_UNSHOWN)
