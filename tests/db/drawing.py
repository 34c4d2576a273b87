"""Draws a number, for a test and its processes, which import this in little time."""

from sealdesk.db.engine import Counter, Tx

NUMBERS = Counter("numbers", key="name", value="last", zeros=("pruned",))


async def record(tx: Tx) -> int:
    """Draw a number and store it where no number can be twice."""
    number = await tx.increment(NUMBERS, "a")
    await tx.execute("INSERT INTO drawn VALUES (:number)", {"number": number})
    return number
