"""Epochs: a restore from a backup begins one, so that nothing given out after the backup is taken
for something else.

The number of an epoch is the time at which it began, in microseconds; an installation that was
never restored is in epoch 0. Log-ins and cursors of an earlier epoch have ended, and keys are
refused until an administrator confirms them.
"""

import hmac

from sealdesk.db.engine import Tx

# What a restore leaves out of the sequences of ticket numbers and feed positions, for those that
# were given out after the backup: 100 a second for each tenant, which is 8.6 million tickets a day.
_MIN_GAP = 10_000
_GAP_PER_S = 100

_CURRENT = "SELECT max(started_at) AS epoch FROM epochs LIMIT 1"
_RESTORED_TO = "SELECT restored_to FROM epochs ORDER BY started_at DESC LIMIT 1"
_ADD = "INSERT INTO epochs (started_at, restored_to) VALUES (:epoch, :restored_to)"
_SWITCH_KEYS_OFF = "UPDATE api_keys SET unconfirmed_since = :epoch WHERE revoked_at IS NULL"
_END_RESET_LINKS = "DELETE FROM reset_links"
_SKIP_NUMBERS = "UPDATE ticket_numbers SET last_number = last_number + :gap"
_SKIP_POSITIONS = "UPDATE feed_positions SET last_position = last_position + :gap"
_FORGET_NOTES = "DELETE FROM installation_notes"
_NEWEST_CHANGE = "SELECT max(created_at) AS at FROM audit LIMIT 1"
_NEWEST_EVENT = "SELECT max(created_at) AS at FROM events LIMIT 1"
_NEWEST_PENDING = "SELECT max(created_at) AS at FROM event_outbox LIMIT 1"


async def current(tx: Tx) -> int:
    """The current epoch; 0 when the installation was never restored."""
    row = await tx.fetch_one(_CURRENT, {})
    return 0 if row is None or row["epoch"] is None else int(row["epoch"])


async def find_restored_time(tx: Tx) -> int | None:
    """When the backup was made that was restored last, None without one."""
    row = await tx.fetch_one(_RESTORED_TO, {})
    return None if row is None else int(row["restored_to"])


async def newest_change(tx: Tx) -> int:
    """The time of the newest event or audit entry, 0 without any."""
    rows = [await tx.fetch_one(sql, {}) for sql in (_NEWEST_CHANGE, _NEWEST_EVENT, _NEWEST_PENDING)]
    return max((int(row["at"]) for row in rows if row is not None and row["at"]), default=0)


async def begin(tx: Tx, *, restored_to: int, now_us: int) -> int:
    """Begin an epoch, as the owner of the tables; its number.

    restored_to: the time at which the data of the database ends.
    """
    epoch = max(now_us, await current(tx) + 1)
    gap = gap_after(restored_to, now_us)
    await tx.execute(_ADD, {"epoch": epoch, "restored_to": restored_to})
    await tx.execute(_SWITCH_KEYS_OFF, {"epoch": epoch})
    await tx.execute(_END_RESET_LINKS, {})
    await tx.execute(_FORGET_NOTES, {})
    await tx.execute(_SKIP_NUMBERS, {"gap": gap})
    await tx.execute(_SKIP_POSITIONS, {"gap": gap})
    return epoch


def gap_after(restored_to: int, now_us: int) -> int:
    """How many numbers to leave out for what happened between these times."""
    return _MIN_GAP + _GAP_PER_S * max(0, (now_us - restored_to) // 1_000_000)


def derive_secret(secret: bytes, epoch: int) -> bytes:
    """The secret that signs log-ins in this epoch."""
    if not epoch:
        return secret
    return hmac.digest(secret, f"sealdesk epoch {epoch}".encode(), "sha256")
