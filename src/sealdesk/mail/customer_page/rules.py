"""What a participant may read of a ticket, and how much they may send; no I/O."""

MAX_FILES = 5  # of one reply
MAX_BODY_BYTES = 10 * 1024 * 1024  # of its form, with all files
MAX_TEXT = 20_000
# Raw messages: they hold the addresses and the links of whoever has sent them.
_UNSHOWN_TYPE, _UNSHOWN_NAMES = "message/", (".eml", ".msg", ".mbox")


def may_read(*, is_customer: bool, joined_at: int, written_at: int) -> bool:
    """The customer reads everything public, others what came after they joined, as by e-mail."""
    return is_customer or written_at >= joined_at


def is_shown(name: str, content_type: str) -> bool:
    """Whether a page shows a file of this name and type."""
    is_raw = content_type.startswith(_UNSHOWN_TYPE) or name.lower().endswith(_UNSHOWN_NAMES)
    return not is_raw
