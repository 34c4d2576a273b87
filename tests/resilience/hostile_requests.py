"""The requests with which a caller could make each route work most, for its body and its answer."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from inspect import getfile
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec import inspect

import sealdesk
from sealdesk.routes import PAGES, ROUTES
from sealdesk.web.faults import FieldType, fields_of
from sealdesk.web.operation import Route

ALL_ROUTES = (*ROUTES, *PAGES)
MEBIBYTE = 1024 * 1024
_ROOM = MEBIBYTE - 2048  # for what stands around the hostile part of a body
_FORM_BYTES = 8 * 1024 - 512
_TARGET_BYTES = 12_000
# Characters that become longer as JSON or HTML, that normalisation sorts, and that patterns retry.
_TEXTS = ("\x01", '"', "&", "\u0301\u0316", "\u0f73", ".", "http://a.&", " ", "\U0001f600")
_FIELD = re.compile(r'name="([a-z_]+)"')
_WORD = re.compile(r"\w+")
_COSTLY = ("body", "target", "signature", "description", "url", "tags", "email")


Make = Callable[[], bytes]


class HostileRequest(NamedTuple):
    """One request. name: of the generator. query: behind the path. make_body: its body."""

    name: str
    route: Route
    query: str
    make_body: Make


def hostile_requests(route: Route) -> Iterator[HostileRequest]:
    """Every generated request of a route; at least one, its largest answer."""
    for name, query in _queries(route):
        yield HostileRequest(name, route, query, bytes)
    if route.method in ("POST", "PATCH", "PUT"):
        bodies = _forms(route) if _is_page(route) else _json_bodies(route.operation.takes)
        for name, make_body in bodies:
            yield HostileRequest(name, route, "", make_body)


def _is_page(route: Route) -> bool:
    return route in PAGES


def _queries(route: Route) -> Iterator[tuple[str, str]]:
    if route.method != "GET":
        yield "nothing", ""
        return
    if route.operation.produces == "text/event-stream":  # has no end
        yield "long ticket", f"?ticket={'A' * _TARGET_BYTES}"
        return
    names = [param.name for param in route.operation.params]
    if "per_page" in names:
        yield "largest page", "?per_page=100"
        yield "largest page, sorted", "?per_page=100&sort=asc"
        yield "long cursor", f"?cursor={'A' * _TARGET_BYTES}"
    else:
        yield "largest answer", ""
    if "status" in names and "priority" in names:
        yield "several filters", "?per_page=100&status=open&priority=medium&sort_by=updated_at"
    if _is_page(route):
        for text in _TEXTS:
            value = quote(text, safe="") * (_TARGET_BYTES // len(quote(text, safe="")) // 4)
            yield f"query of {text!r}", f"?q={value}&customer={value}&tag={value}&before={value}"
    yield "many parameters", "?" + "&".join(["a"] * (_TARGET_BYTES // 2))


def _json_bodies(struct: type[msgspec.Struct] | None) -> Iterator[tuple[str, Make]]:
    yield "deep arrays", lambda: b'{"a":' + b"[" * (_ROOM // 2) + b"]" * (_ROOM // 2) + b"}"
    yield "deep objects", lambda: b'{"a":' * 150_000 + b"1" + b"}" * 150_000
    yield "many members", lambda: _object(f'"{n:x}":0' for n in range(80_000))
    yield "9,900 long names", lambda: _object(f'"{n:<98x}":0' for n in range(9_900))
    yield "many values", partial(_array, "a", b'["\\u00e9",[""]]', 65_000)
    yield "9,900 values", partial(_array, "a", b'"%b\\u00e9"' % (b"x" * 90), 9_900)
    yield "escapes", partial(_member, "a", b"\\u0001")
    yield "a long number", lambda: b'{"a":' + b"9" * _ROOM + b"}"
    yield "not JSON", lambda: b"[" + b" " * _ROOM
    if struct is None:
        return
    yield "largest values", lambda: json.dumps(_largest(struct), ensure_ascii=False).encode()
    for name in _names(struct):
        for text in _TEXTS:
            part = json.dumps(text, ensure_ascii=False)[1:-1].encode()
            yield f"{name}: {text!r}", partial(_member, name, part)
        for item in (b"1", b'""', b"{}"):
            yield f"{name}: 9,900 of {item.decode()}", partial(_array, name, item, 9_900)


def _object(members: Iterable[str]) -> bytes:
    return f"{{{','.join(members)}}}".encode()


def _member(name: str, part: bytes) -> bytes:
    return b'{"%b":"%b"}' % (name.encode(), part * (_ROOM // len(part)))


def _array(name: str, item: bytes, count: int) -> bytes:
    return b'{"%b":[%b]}' % (name.encode(), b",".join([item] * count))


def _names(struct: type[msgspec.Struct]) -> list[str]:
    return [field.name for field in fields_of(struct)]


def _largest(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """A body in which every field is as large as it may be."""
    return {field.name: _largest_value(field.name, field.type) for field in fields_of(struct)}


def _largest_value(name: str, declared: FieldType) -> Any:
    if declared.choices:
        return declared.choices[-1]
    if declared.struct is not None:
        return _largest(declared.struct)
    match declared.json_type:
        case inspect.StrType(max_length=most):
            return "a@example.test" if "email" in name else '"' * (most or 64)
        case inspect.ListType(max_length=most) if declared.item is not None:
            item = _largest_value(name, declared.item)
            return [f"{n}{item}"[: len(item)] for n in range(most or 100)]
        case inspect.DictType():
            return {f"{n}": '"' * 20 for n in range(300)}
        case inspect.IntType(le=most):
            return most or 1
    return True


def _forms(route: Route) -> Iterator[tuple[str, Make]]:
    """Fields of forms: of the longest that every form may have, and of the longest of all."""
    yield "many fields", lambda: b"&".join([b"a=1"] * 2_000)
    yield "every field", _every_field
    for name in ("tags", "ticket", "event", "permission"):
        yield f"many {name}", partial(_repeated, name)
    names = _worked_on(route)
    for text in _TEXTS:
        yield f"fields of {text!r}", partial(_form, names, text, _FORM_BYTES)
    is_large = route.max_body_bytes >= MEBIBYTE
    for name, text in product(names if is_large else (), _TEXTS):
        yield f"{name}: {text!r}", partial(_form, [name], text, _ROOM)
    if not is_large:
        yield "too large", partial(_form, ["a"], ".", _ROOM)


def _worked_on(route: Route) -> list[str]:
    """The fields that cost most, of those that the package of a page mentions."""
    words = _words_below(Path(getfile(route.operation.handle)).parent)
    return [name for name in _COSTLY if name in words] or [*_COSTLY]


@cache
def _words_below(directory: Path) -> set[str]:
    files = (*directory.rglob("*.py"), *directory.rglob("*.html"))
    return {word for file in files for word in _WORD.findall(file.read_text())}


def _form(names: list[str], text: str, size: int) -> bytes:
    escaped = quote(text, safe="")
    value = escaped * (size // len(names) // len(escaped))
    return "&".join(f"{name}={value} x" for name in names).encode()


def _repeated(name: str) -> bytes:
    return b"&".join([f"{name}=1".encode()] * 9_000)


def _every_field() -> bytes:
    names = sorted({*_field_names()})
    return "&".join(f"{name}={'.' * 150}" for name in names).encode()[:_FORM_BYTES]


def _field_names() -> list[str]:
    templates = Path(sealdesk.__file__).parent.rglob("*.html")
    return [name for path in templates for name in _FIELD.findall(path.read_text())]
