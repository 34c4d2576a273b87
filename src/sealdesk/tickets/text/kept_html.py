"""The HTML of texts: made once, beside the event loop if they are long, and kept in memory."""

import asyncio
import sys
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from markupsafe import Markup

from sealdesk.db import deadline, threads
from sealdesk.sandbox.pool import Exceeded, Pool
from sealdesk.sandbox.slots import Crowded
from sealdesk.tickets.text import markdown
from sealdesk.tickets.text.arrangement import Look
from sealdesk.tickets.text.links import plain_html
from sealdesk.tickets.text.markdown import Job, Rendered, render

_IN_THREAD_LENGTH = 256  # 1 ms; 4 KiB of markup take 20 ms (2026-11-26)
_IN_CHILD_LENGTH = 4096
_CPU_S = 2.0  # ten times what the longest text takes, and a child's start
# One thread, so that the event loop waits for one other thread at most.
_THREAD = ThreadPoolExecutor(1, thread_name_prefix="markdown")
# A thread at work delays each statement of SQLite by up to 0.5 ms, so it may work for 0.1 s at once
# and a tenth of the time; then short texts too go to child processes, which take 0.2 s to start.
_REST_OF_THREAD = 10
_MAX_REST_S = 1.0
_MAX_BYTES = 16 * 1024 * 1024
_MAX_UNUSED_S = 3600.0
_BYTES_BESIDE = 500  # of an entry, besides its text
_MAX_SLICE_S = 0.00025


class ShownText(NamedTuple):
    """The HTML of a text. quoted: that of its end, which is folded; empty if nothing is."""

    html: Markup
    quoted: Markup
    steps: int = 0


NO_TEXT = ShownText(Markup(), Markup())
_decode_answer = msgspec.msgpack.Decoder(tuple[Rendered, int]).decode


async def render_all(
    sandbox: Pool, texts: Iterable[tuple[str, bool]], look: Look
) -> list[ShownText]:
    """The HTML of texts, each with whether the quotes and the signature at its end are folded."""
    return [shown async for shown in render_each(sandbox, texts, look)]


async def render_each(
    sandbox: Pool, texts: Iterable[tuple[str, bool]], look: Look
) -> AsyncIterator[ShownText]:
    """The same one by one, with the steps that each took."""
    began_s = time.perf_counter()
    for text, is_folded in texts:
        nameless = await _find(sandbox, Job(text, is_folded, look._replace(names={})))
        # Who is mentioned depends on the desk; few texts mention anybody.
        named = {word: look.names[word] for word in nameless.words if word in look.names}
        shown = nameless
        if named:
            shown = await _find(sandbox, Job(text, is_folded, look._replace(names=named)))
        yield ShownText(Markup(shown.html), Markup(shown.quoted), shown.steps)  # noqa: S704
        if time.perf_counter() - began_s > _MAX_SLICE_S:
            await asyncio.sleep(0)
            began_s = time.perf_counter()


async def _find(sandbox: Pool, job: Job) -> Rendered:
    data = msgspec.msgpack.encode(job)
    key = blake2b(data, digest_size=32).digest()
    rendered = _kept.find(key)
    if rendered is None:
        rendered = await _render_beside(sandbox, job, data)
        _kept.add(key, rendered)
    return rendered


async def _render_beside(sandbox: Pool, job: Job, data: bytes) -> Rendered:
    if len(job.text) <= _IN_THREAD_LENGTH:
        return render(*job)
    if len(job.text) > _IN_CHILD_LENGTH or _thread.is_tired():
        try:
            payer = deadline.current().payer
            answer = await sandbox.run(markdown.FUNCTION, data, cpu_s=_CPU_S, payer=payer)
            rendered, used_ns = _decode_answer(answer)
        except Exceeded:
            return Rendered(plain_html(job.text))
        except (Crowded, OSError):
            pass  # its steps are bounded here too
        else:
            threads.charge(used_ns)
            return rendered
    return await threads.run_in(_THREAD, _thread.run, job)


class _Thread:
    """How much the thread has worked. rests_until_s: by the monotonic clock."""

    rests_until_s = 0.0

    def is_tired(self) -> bool:
        return self.rests_until_s - time.monotonic() > _MAX_REST_S

    def run(self, job: Job) -> Rendered:
        began_s, used_s = time.monotonic(), time.thread_time()
        try:
            return render(*job)
        finally:
            rest_s = (time.thread_time() - used_s) * _REST_OF_THREAD
            self.rests_until_s = max(self.rests_until_s, began_s) + rest_s


class _Kept:
    """HTML by the hash of its text and of how it is shown; what is unused longest leaves.

    Nobody finds it without the text, and nothing of an erased text is left after an hour.
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[bytes, tuple[float, Rendered]] = OrderedDict()
        self._bytes = 0

    def find(self, key: bytes) -> Rendered | None:
        self._drop_unused()
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries[key] = (time.monotonic(), entry[1])
        self._entries.move_to_end(key)
        return entry[1]

    def add(self, key: bytes, rendered: Rendered) -> None:
        if key not in self._entries:
            self._bytes += _size(rendered)
        self._entries[key] = (time.monotonic(), rendered)
        self._drop_unused()

    def _drop_unused(self) -> None:
        oldest_s = time.monotonic() - _MAX_UNUSED_S
        while self._entries:
            used_s, rendered = next(iter(self._entries.values()))
            if used_s >= oldest_s and self._bytes <= _MAX_BYTES:
                return
            self._entries.popitem(last=False)
            self._bytes -= _size(rendered)


def _size(rendered: Rendered) -> int:
    texts = (rendered.html, rendered.quoted, *rendered.words)
    return _BYTES_BESIDE + sum(map(sys.getsizeof, texts))


_kept = _Kept()
_thread = _Thread()
