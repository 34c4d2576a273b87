"""The structs of reading folders."""

from typing import NamedTuple


class Position(NamedTuple):
    """How far a folder has been read. read_at: when it was read to its end."""

    uid_validity: int
    last_uid: int
    read_at: int


class Known(NamedTuple):
    """What a message is recognised by before it is fetched: see `receiving.contents.key_of`."""

    message_key: str
    subject: str
