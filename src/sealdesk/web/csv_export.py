"""CSV files that are sent while their rows are read, and the page that begins them."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from sealdesk import clock, ids
from sealdesk.db.deadline import UNINDEXED_READ_UNITS, Deadline, deadline
from sealdesk.records import audit
from sealdesk.resources import csv_file
from sealdesk.resources.paging import PageRequest, Position
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response

MAX_ROWS = 100_000
MAX_EXPORTS_OF_TENANT = 2
_MAX_S = 600.0
_ROWS_AT_ONCE = 100
_BYTES_AT_ONCE = 128 * 1024  # 1 ms of the event loop (2026-11-27)
_MAX_SLICE_S = 0.00025
_BYTES_PER_UNIT = 16 * 1024  # as responses are charged
_TYPE = b"text/csv; charset=utf-8"


class CsvPart(NamedTuple):
    """Some rows. after: the id behind which the next ones begin, None at the end."""

    rows: list[Sequence[str]]
    after: str | None


class CsvExport(NamedTuple):
    """A table to be sent. name: of the file, and of its audit action `name.exported`.

    read: the rows of a page, newest first. details: what the audit log says of the export.
    """

    name: str
    header: Sequence[str]
    read: Callable[[PageRequest], Awaitable[CsvPart]]
    details: dict[str, Any]


class ExportPage(NamedTuple):
    """The page that begins an export. back, file: paths. total: of rows, None if unknown."""

    title: str
    name: str
    back: str
    file: str
    total: int | None


class ExportEnded(Exception):
    """The export takes too long, or the process ends; the client sees an incomplete file."""


async def show_page(request: Request, page: ExportPage, *, is_busy: bool = False) -> Response:
    """The page that begins an export, by a link or by a script with a progress bar."""
    return await render.page(
        request,
        "shared/export.html",
        429 if is_busy else 200,
        export=page,
        max_rows=MAX_ROWS,
        is_busy=is_busy,
        file_name=_file_name(request, page.name),
    )


def has_room(request: Request) -> bool:
    """Whether the tenant may begin one more export."""
    return request.state.limits.exports[request.caller.tenant_id] < MAX_EXPORTS_OF_TENANT


def with_lf(text: str | None) -> str:
    """A text whose line breaks are LF, so that only the ends of rows have a CR."""
    return (text or "").replace("\r\n", "\n").replace("\r", "\n")


async def send_file(request: Request, export: CsvExport) -> Response:
    """The file; the export itself is recorded. Raises QueryTooSlow before anything is sent.

    Between `has_room` and here nothing is awaited, so that requests at once see each other.
    """
    parts = _parts(request, export)
    # Once begun, it gives its room back however the response ends.
    await anext(parts)
    response = render.download(b"", _TYPE, _file_name(request, export.name))
    if request.method == "HEAD":
        await parts.aclose()
    else:
        response.parts = parts
    return response


async def _parts(request: Request, export: CsvExport) -> AsyncGenerator[bytes, None]:
    """Nothing, as soon as the export is recorded, and then the file."""
    running, tenant_id = request.state.limits.exports, request.caller.tenant_id
    running[tenant_id] += 1
    try:
        first = await _begin(request, export)
        yield b""
        async with aclosing(_file(request, export, first)) as parts:
            async for each in parts:
                yield each
    finally:
        running[tenant_id] -= 1
        if not running[tenant_id]:
            del running[tenant_id]


async def _begin(request: Request, export: CsvExport) -> CsvPart:
    """The first rows, with an entry in the audit log."""
    after = forms.read_query(request).text("after")
    position: Position | None = [after] if ids.is_canonical(after) else None
    first = await export.read(PageRequest(_ROWS_AT_ONCE, position, _BYTES_AT_ONCE))
    action = f"{export.name}.exported"
    await request.act(audit.record, action, None, export.details, request.now_us)
    return first


async def _file(request: Request, export: CsvExport, part: CsvPart) -> AsyncGenerator[bytes, None]:
    gone = asyncio.ensure_future(request.until_gone())
    ends_at, row_count = time.monotonic() + _MAX_S, 0
    try:
        yield csv_file.encode(export.header, [])
        while not gone.done():
            row_count += len(part.rows)
            content = await _format(part.rows)
            yield content
            if part.after is None:
                return
            if row_count >= MAX_ROWS:
                yield _more(export, row_count, part.after)
                return
            if time.monotonic() > ends_at or request.state.lifetime.is_draining:
                raise ExportEnded
            part = await _read_next(request, export, part.after, len(content))
    finally:
        gone.cancel()


async def _format(rows: list[Sequence[str]]) -> bytes:
    """In slices, as hundreds of long rows take 10 ms."""
    parts, began_s = [], time.perf_counter()
    for row in rows:
        parts.append(csv_file.encode_rows([row]))
        if time.perf_counter() - began_s > _MAX_SLICE_S:
            await asyncio.sleep(0)
            began_s = time.perf_counter()
    return b"".join(parts)


async def _read_next(request: Request, export: CsvExport, after: str, sent_bytes: int) -> CsvPart:
    """The next rows; as much time as reading takes is left to other requests."""
    # All reads together may take longer than a request may wait.
    turn = request.turn
    waits = turn.deadline = Deadline(beside_ns=turn.deadline.beside_ns)
    deadline.set(waits)
    await request.prove_again()
    began_s = time.perf_counter()
    part = await export.read(PageRequest(_ROWS_AT_ONCE, [after], _BYTES_AT_ONCE))
    took_s = time.perf_counter() - began_s
    units = 1 + sent_bytes // _BYTES_PER_UNIT + waits.unindexed_reads * UNINDEXED_READ_UNITS
    request.state.limits.limiter.charge(
        request.state.limits.tenant_budgets.of(request.caller), units
    )
    await asyncio.sleep(took_s)
    return part


def _more(export: CsvExport, row_count: int, after: str) -> bytes:
    text = f"More than {row_count} rows; export the rest with after={after}"
    return csv_file.encode_rows([[text, *[""] * (len(export.header) - 1)]])


def _file_name(request: Request, name: str) -> str:
    return f"{name}-{clock.iso(request.now_us)[:10]}.csv"
