"""Rows of many tenants are written a few tenants at a time, and never too many rows at once."""

import asyncio

from sealdesk.api_keys.batches import BATCH_ROWS, write_batches


class Storage:
    """Notes what is written, and how much of it at once."""

    def __init__(self) -> None:
        self.rows: dict[str, list[int]] = {}
        self.groups: list[int] = []
        self._pending = 0

    async def write(self, tenant_id: str, rows: list[int]) -> int:
        self.rows.setdefault(tenant_id, []).extend(rows)
        self._pending += len(rows)
        await asyncio.sleep(0)  # the others of the group begin
        if self._pending:
            self.groups.append(self._pending)
            self._pending = 0
        return len(rows)


def written(rows_of_tenants: dict[str, list[int]]) -> list[int]:
    """How many rows each group had."""
    storage = Storage()
    count = asyncio.run(write_batches(rows_of_tenants.items(), storage.write))
    assert storage.rows == {name: rows for name, rows in rows_of_tenants.items() if rows}
    assert count == sum(map(len, rows_of_tenants.values()))
    return storage.groups


def test_few_rows_of_many_tenants_are_written_together() -> None:
    assert written({f"{n}": [n, n] for n in range(20)}) == [16, 16, 8]


def test_many_rows_are_written_in_turns() -> None:
    groups = written({"a": list(range(450)), "b": [1, 2], "c": [], "d": list(range(199))})
    assert max(groups) <= BATCH_ROWS
    assert groups == [200, 200, 52, 199]


def test_nothing_is_written_without_rows() -> None:
    assert written({}) == []
