"""What reads foreign input does work in proportion to its length: calls are counted, of functions
of Python and of C. Expressions that take more time within one call: `test_regular_expressions`.

Functions are found by their arguments, bodies and queries by the tables of routes.
"""

import importlib
import inspect
import json
import pkgutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context

import msgspec
import pytest

from sealdesk.crypto.sealing import KeyRing
from sealdesk.identity.auth import session_guard
from sealdesk.mail.parsing.message import parse
from sealdesk.mail.threads.redaction import redact, secrets_of
from sealdesk.resources.paging import Listing, open_cursor
from sealdesk.server.framing import find_fault
from sealdesk.tickets.text import markdown, mentions
from sealdesk.tickets.text.arrangement import Look
from sealdesk.tickets.text.forwards import read_forward
from sealdesk.tickets.views import search_words
from sealdesk.tickets.views.inbox_query import read_inbox_query
from sealdesk.web import body, json_parsing, query
from sealdesk.web.faults import fields_of
from sealdesk.web.form import parse_form
from sealdesk.web.operation import Route
from tests.mail.parsing.messages import HEADER
from tests.resilience import hostile_requests
from tests.resilience.amplify import Attacker, Client
from tests.resilience.hostile_requests import ALL_ROUTES
from tests.resilience.large_tenant import FEW
from tests.support.service import Service

_ROOMS = (
    "api_keys", "crypto", "customers", "feed", "http_client.urls", "identity", "mail", "resources",
    "search", "server.framing", "tickets", "web", "webhooks",
)  # fmt: skip
# Repeated, they are hostile to some parser.
_PARTS = (
    "a", " ", '"', "(", "<", "&", "%41", "\n", "> ", "@ada ", "#1 ", "a: ", "http://a.b ", ",",
    "=?a?q?", "e\u0301", "`", "*a_ ", "[a](", "> a\n", "\\", "0", "#_\n\n", "<p>", "a@b.c,", "a=b&",
)  # fmt: skip
# Eight times the size takes eight times the calls, or 64 times if it is quadratic.
_SHORT, _LONG = (250, 2_000), (500, 4_000)
_MAX_GROWTH = 12
_FEW_CALLS = 500  # so many say nothing about their growth
# Of functions that are not called: they use files, or are slow on purpose.
_NOT_CALLED = {"open", "Path", "run", "connect", "stat", "read_text", "read_bytes", "_HASHER"}
_SIZES = pytest.mark.parametrize(
    "sizes", [_SHORT, pytest.param(_LONG, marks=pytest.mark.prove)], ids=["short", "long"]
)
Function = Callable[..., object]


def _calls(function: Function, *given: object) -> int:
    """How many functions are called; what the function raises is an answer too."""
    count = 0

    def note(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        with suppress(Exception):
            result = copy_context().run(function, *given)  # `activate` chooses a language
            if isinstance(result, Iterator):
                for _ in result:
                    pass
    finally:
        sys.setprofile(None)
    return count


def _grows_too_fast(
    function: Function, make: Callable[[int], object], sizes: tuple[int, int] = _SHORT
) -> bool:
    small, large = (_calls(function, make(size)) for size in sizes)
    return large > _FEW_CALLS and large > _MAX_GROWTH * max(small, _FEW_CALLS / 8)


def _repeated(part: str, kind: type) -> Callable[[int], object]:
    def make(size: int) -> object:
        text = part * (size // len(part))
        return text if kind is str else text.encode()

    return make


def _readers() -> dict[str, tuple[Function, type]]:
    """The functions of the rooms that take one text or some bytes, and that type."""
    found: dict[str, tuple[Function, type]] = {}
    for room in _ROOMS:
        package = importlib.import_module(f"sealdesk.{room}")
        names = [package.__name__]
        if hasattr(package, "__path__"):
            prefix = f"{package.__name__}."
            names += [each.name for each in pkgutil.walk_packages(package.__path__, prefix)]
        for name in names:
            for own, function in vars(importlib.import_module(name)).items():
                kind = _takes(function)
                if kind is not None and function.__module__ == name:
                    found[f"{name}.{own}"] = (function, kind)
    return found


def _takes(function: object) -> type | None:
    if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
        return None
    needed = [
        each
        for each in inspect.signature(function).parameters.values()
        if each.default is each.empty and each.kind is not each.VAR_KEYWORD
    ]
    is_pure = _NOT_CALLED.isdisjoint(function.__code__.co_names)
    if not is_pure or len(needed) != 1 or needed[0].annotation not in (str, bytes):
        return None
    return needed[0].annotation if needed[0].kind is not inspect.Parameter.KEYWORD_ONLY else None


def _render(text: str) -> object:
    return markdown.render(text, True, Look("", mentions.index_names([("1", "Ada")]), "Quoted"))


def _mentioned(text: str) -> object:
    return markdown.mentioned_ids(text, mentions.index_names([("1", "Ada")]))


def _header(name: str) -> Function:
    head = HEADER.removesuffix(b"\r\n") + name.encode() + b": "
    return lambda text: parse(head + text.encode() + b"\r\n\r\nBody")


def _open_cursor(text: str) -> object:
    listing = Listing("0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "/", {})
    return open_cursor(KeyRing([b"k" * 32]), listing, text)


# What needs more than the text.
_OTHERS: dict[str, Function] = {
    "Markdown": _render,
    "mentions": _mentioned,
    "search words": search_words.parse,
    "filters": lambda text: read_inbox_query(parse_form(text.encode())),
    "the filter of a tag": lambda text: read_inbox_query(parse_form(b"tag=" + text.encode())),
    "forwarded": lambda text: read_forward("Fwd: a", text),
    "secrets": lambda text: redact(text, secrets_of(KeyRing([b"k" * 32]))),
    "cursor": _open_cursor,
    "headers": lambda text: find_fault(b"/", [(text.encode(), b"1")] * len(text), "1.1"),
    **{f"mail {name}": _header(name) for name in ("To", "Subject", "References", "Content-Type")},
}


def _bodies(struct: type[msgspec.Struct]) -> Iterator[tuple[str, Callable[[int], object]]]:
    yield "unknown fields", lambda size: {f"f{number}": 0 for number in range(size // 8)}
    for field in fields_of(struct):
        for name, item in (("texts", "a"), ("objects", {}), ("numbers", 1)):
            yield f"{field.name}: {name}", _items(field.name, item)
        yield f"{field.name}: members", _members(field.name)
        for part in ("a", "é ", "\u0301"):
            yield f"{field.name}: {part!r}", _text(field.name, part)


def _items(name: str, item: object) -> Callable[[int], object]:
    return lambda size: {name: [item] * (size // 4)}


def _members(name: str) -> Callable[[int], object]:
    return lambda size: {name: {f"m{number}": "a" for number in range(size // 8)}}


def _text(name: str, part: str) -> Callable[[int], object]:
    return lambda size: {name: part * (size // len(part))}


@_SIZES
def test_work_of_what_reads_a_text_grows_with_it(sizes: tuple[int, int]) -> None:
    readers = _readers()
    assert len(readers) > 200
    readers |= {name: (function, str) for name, function in _OTHERS.items()}
    found = {
        (name, part)
        for name, (function, kind) in readers.items()
        for part in _PARTS
        if _grows_too_fast(function, _repeated(part, kind), sizes)
    }
    assert found == set()


@_SIZES
def test_work_of_what_reads_a_body_grows_with_it(sizes: tuple[int, int]) -> None:
    structs = {each.operation.takes for each in ALL_ROUTES if each.operation.takes is not None}
    found = {
        (struct.__name__, name)
        for struct in structs
        for name, make in _bodies(struct)
        if _grows_too_fast(_reader_of(struct), _sent(make), sizes)
    }
    assert len(structs) > 30
    assert found == set()


def _reader_of(struct: type[msgspec.Struct]) -> Function:
    return lambda sent: body.convert(json_parsing.parse(sent), struct)


def _sent(make: Callable[[int], object]) -> Callable[[int], object]:
    return lambda size: json.dumps(make(size)).encode()


def test_work_of_what_reads_a_query_grows_with_it() -> None:
    found = {
        (f"{route.method} {route.path}", param.name, part)
        for route in ALL_ROUTES
        for param in route.operation.params
        for part in ("a", "%41", f"a&{param.name}=", ",", "&")
        if _grows_too_fast(_query_of(route), _valued(param.name, part))
    }
    assert found == set()


def _valued(name: str, part: str) -> Callable[[int], object]:
    return lambda size: f"{name}={part * (size // len(part))}".encode()


def _query_of(route: Route) -> Function:
    return lambda sent: query.parse(sent, route.operation.params)


def test_quadratic_work_is_found() -> None:
    def read(text: str) -> None:
        for end in range(0, len(text), 10):
            [letter.upper() for letter in text[:end]]

    assert _grows_too_fast(read, _repeated("a", str))


@pytest.mark.prove
@pytest.mark.timeout(1800)
def test_processor_time_of_requests_grows_with_them(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every route, over its socket: four times the input takes at most eight times as long."""
    monkeypatch.setattr(session_guard, "_FORMS_PER_MINUTE", 1_000_000)
    service = start(SEALDESK_TENANT_LIMIT="100000000")
    attacker, client = Attacker(service.tenant(), FEW), Client(service)

    def time_s(route: Route, number: int, share: int, times: int) -> float:
        with monkeypatch.context() as patched:
            for name, size in _SIZES_OF_REQUESTS.items():
                patched.setattr(hostile_requests, name, size // share)
            request = [*hostile_requests.hostile_requests(route)][number]
            data = attacker.bytes_of(request)
        return min(_process_time_s(lambda: client.send(data)) for _ in range(times))

    found = {}
    for route in ALL_ROUTES:
        for number, request in enumerate(hostile_requests.hostile_requests(route)):
            if time_s(route, number, 1, 1) > 8 * _BASE_S:
                small_s = max(time_s(route, number, 4, 5), _BASE_S)
                growth = time_s(route, number, 1, 5) / small_s
                if growth > 8:
                    found[f"{route.method} {route.path}: {request.name}"] = round(growth, 1)
    assert found == {}


_BASE_S = 0.005
_SIZES_OF_REQUESTS = {
    name: getattr(hostile_requests, name) for name in ("_ROOM", "_FORM_BYTES", "_TARGET_BYTES")
}


def _process_time_s(work: Callable[[], object]) -> float:
    began_s = time.process_time()
    work()
    return time.process_time() - began_s
