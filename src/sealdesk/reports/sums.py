"""Rows of sums as JSON, changed and added up; no I/O.

Durations that fill their range are stored as one text: the counts, of 32 bits each, in base64. All
of them are added as one large number, in a small part of the time of as many members.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from struct import pack, unpack
from typing import NamedTuple

import msgspec

from sealdesk.reports.rules import KINDS_OF_DURATIONS, NUMBERS
from sealdesk.reports.types import Sums

# A list begins with the number of its first duration. Of fewer members, or of a range that has four
# times as many numbers, the members are shorter.
_MIN_LISTED, _MAX_RANGE = 16, 4
_BITS, _BYTES = 32, 4
_Row = dict[str, int | list[int]]


class _Created(msgspec.Struct):
    created: int = 0


_decode = msgspec.json.Decoder(dict[str, int | bytes]).decode
_decode_created = msgspec.json.Decoder(_Created).decode
_encode = msgspec.json.Encoder().encode


class Totals(NamedTuple):
    """Sums that are added up. durations: by their kind, how often there is each number."""

    counts: Counter[str]
    durations: Mapping[str, list[int]]


def changed(row: str, difference: Mapping[str, int]) -> str:
    """A row after a change; empty texts are rows without anything."""
    if not any(map(_is_duration, difference)):
        return _recounted(row, difference)
    stored = _unpacked(row) if row else {}
    for key, count in difference.items():
        listed = stored.get(key[0]) if _is_duration(key) else None
        if isinstance(listed, list):
            _add_to(listed, int(key[1:]), count)
            continue
        stored[key] = _count(stored.pop(key, 0)) + count
    _spread_negative(stored)
    kept = {key: value for key, value in stored.items() if _is_something(value)}
    packed = {
        key: _pack(value) if isinstance(value, list) else value
        for key, value in _with_lists(kept).items()
    }
    return _encode(packed).decode() if packed else ""


def _recounted(row: str, difference: Mapping[str, int]) -> str:
    """The same where no list changes: most tickets are new, and what is packed stays so."""
    stored = _decode(row) if row else {}
    for key, count in difference.items():
        before = stored.pop(key, 0)
        if after := (before if isinstance(before, int) else 0) + count:
            stored[key] = after
    return _encode(stored).decode() if stored else ""


def created_in(rows: Iterable[str]) -> int:
    """How many tickets were created, which is read in a small part of the time of all numbers."""
    return sum(_decode_created(row).created for row in rows)


def read(row: str) -> Sums:
    """A row with a member for each number."""
    found: Sums = Counter()
    for key, value in _unpacked(row).items():
        if isinstance(value, list):
            listed = enumerate(value[1:], value[0])
            found.update({f"{key}{number}": count for number, count in listed if count})
        else:
            found[key] = value
    return found


def total_of(rows: Iterable[str]) -> Totals:
    """Rows added up."""
    counts: Counter[str] = Counter()
    packed = dict.fromkeys(KINDS_OF_DURATIONS, 0)
    for row in rows:
        for key, value in _decode(row).items():
            if isinstance(value, bytes):
                number = int.from_bytes(value, "little")
                packed[key] += number >> _BITS << _BITS * (number % (1 << _BITS))
            else:
                counts[key] += value
    durations = {
        kind: _unpack(number.to_bytes(NUMBERS * _BYTES, "little"))
        for kind, number in packed.items()
    }
    for key in [*filter(_is_duration, counts)]:
        durations[key[0]][int(key[1:])] += counts.pop(key)
    return Totals(counts, durations)


def together(parts: Iterable[Totals]) -> Totals:
    """Several totals as one."""
    counts: Counter[str] = Counter()
    lists: dict[str, list[list[int]]] = {kind: [[0] * NUMBERS] for kind in KINDS_OF_DURATIONS}
    for part in parts:
        counts.update(part.counts)
        for kind, of_kind in lists.items():
            of_kind.append(part.durations[kind])
    return Totals(
        counts, {kind: [*map(sum, zip(*each, strict=True))] for kind, each in lists.items()}
    )


def _unpacked(row: str) -> _Row:
    return {
        key: _unpack(value) if isinstance(value, bytes) else value
        for key, value in _decode(row).items()
    }


def _pack(listed: Sequence[int]) -> bytes:
    return pack(f"<{len(listed)}I", *listed)


def _unpack(packed: bytes) -> list[int]:
    return [*unpack(f"<{len(packed) // _BYTES}I", packed)]


def _is_duration(key: str) -> bool:
    return key[0] in KINDS_OF_DURATIONS and key[1:].isdigit()


def _count(value: int | list[int]) -> int:
    return value if isinstance(value, int) else 0


def _is_something(value: int | list[int]) -> bool:
    return any(value[1:]) if isinstance(value, list) else value != 0


def _add_to(listed: list[int], number: int, count: int) -> None:
    before = listed[0] - number
    if before > 0:
        listed[:] = [number, *[0] * before, *listed[1:]]
    place = number - listed[0] + 1
    listed += [0] * (place + 1 - len(listed))
    listed[place] += count


def _spread_negative(stored: _Row) -> None:
    """Make members of a list from which more was taken out than it has; no list holds that."""
    for kind, value in [*stored.items()]:
        if isinstance(value, list) and min(value) < 0:
            del stored[kind]
            stored |= {f"{kind}{n}": count for n, count in enumerate(value[1:], value[0]) if count}


def _with_lists(stored: _Row) -> _Row:
    """The same with a list instead of many members of a kind."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for key in filter(_is_duration, stored):
        numbers[key[0]].append(int(key[1:]))
    for kind, found in numbers.items():
        first = min(found)
        length = max(found) + 1 - first
        if min(_count(stored[f"{kind}{number}"]) for number in found) < 0:
            continue
        if len(found) >= _MIN_LISTED and length <= _MAX_RANGE * len(found):
            listed = [first, *[0] * length]
            for number in found:
                listed[number - first + 1] = _count(stored.pop(f"{kind}{number}"))
            stored[kind] = listed
    return stored
