"""Parsing of a message in a child process, whose answer does not repeat the message."""

import msgspec

from sealdesk.mail.parsing.message import parse, with_line_ends
from sealdesk.mail.parsing.types import ParsedMessage, Part
from sealdesk.sandbox.pool import Pool

# A message of 24 MiB with a large text in HTML takes 1 s (2026-11).
_CPU_S = 5.0
FUNCTION = f"{__name__}:parse_for_parent"


async def parse_in_child(pool: Pool, raw: bytes, tenant_id: str) -> ParsedMessage:
    """What a message to a tenant says. Raises Exceeded, Crowded of the sandbox."""
    answer = await pool.run(FUNCTION, raw, cpu_s=_CPU_S, payer=tenant_id)
    return read_answer(answer, raw)


def parse_for_parent(raw: bytes) -> bytes:
    """What the child answers: a ParsedMessage whose files in the message have no bytes."""
    raw = with_line_ends(raw)
    return msgspec.msgpack.encode(_with_other_bytes(parse(raw), raw, b""))


def read_answer(answer: bytes, raw: bytes) -> ParsedMessage:
    """The message that a child has parsed."""
    message = msgspec.msgpack.decode(answer, type=ParsedMessage)
    return _with_other_bytes(message, b"", with_line_ends(raw))


def _with_other_bytes(message: ParsedMessage, old: bytes, new: bytes) -> ParsedMessage:
    """The message with `new` where its files are pieces of `old`."""

    def of(part: Part) -> Part:
        if part.encoded.raw != old:
            return part
        return msgspec.structs.replace(part, encoded=part.encoded._replace(raw=new))

    return msgspec.structs.replace(message, attachments=tuple(map(of, message.attachments)))
