"""Every regular expression of the source takes time in proportion to the text that it meets.

Each is measured with hostile texts made of its own parts: one part repeated, behind the shortest
text that leads to it, and before an end that cannot match.
"""

import ast
import importlib
import pkgutil
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import sealdesk
from sealdesk.api_keys.debugger import parsing
from sealdesk.resources import csv_file
from sealdesk.search.rules import split_words
from sealdesk.tickets.text.links import link_urls

_PARSER = importlib.import_module("re._parser")
Pattern = re.Pattern[Any]
_METHODS = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn")
_LENGTHS = (40, 400, 4_000)
_ENDS = ("", "\0", " x\n")
# Ten times the text takes ten times the time, or a hundred times if it is quadratic.
_MAX_GROWTH = 30
_MEASURABLE_S = 0.001


_CHARACTERS = [chr(code) for code in (*range(0x61, 0x7B), *range(0x20, 0x7F), 9, 10, 0xE9, 0x3042)]
_HOSTILE = ' .a0\n"\\'


class Use(NamedTuple):
    """A pattern, and a method that the source calls with it."""

    place: str
    pattern: Pattern
    method: str

    def __str__(self) -> str:
        return f"{self.place}.{self.method}"

    def call(self, text: str) -> None:
        given = text if isinstance(self.pattern.pattern, str) else text.encode()
        arguments = (given[:0], given) if "sub" in self.method else (given,)
        result = getattr(self.pattern, self.method)(*arguments)
        if self.method == "finditer":
            deque(result, maxlen=0)


def _modules() -> list[ModuleType]:
    names = [each.name for each in pkgutil.walk_packages(sealdesk.__path__, "sealdesk.")]
    # The environment of migrations runs them when it is imported.
    return [importlib.import_module(name) for name in names if ".migrations." not in name]


def _named_patterns(module: ModuleType) -> Iterator[tuple[str, Pattern]]:
    """The patterns in the variables of a module, also within collections."""
    for name, value in vars(module).items():
        for pattern in _patterns_in(value):
            yield name, pattern


def _patterns_in(value: object) -> Iterator[Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict | list | tuple | set | frozenset):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _patterns_in(each)


def _uses() -> list[Use]:
    """Every pattern with each of its methods that is called anywhere."""
    uses: dict[tuple[str, str], Use] = {}
    for module in _modules():
        tree = ast.parse(_source_of(module))
        calls = [(ast.unparse(call.func.value), call.func.attr, call) for call in _calls(tree)]
        methods = {(name.rpartition(".")[2], method) for name, method, _ in calls}
        for name, pattern in _named_patterns(module):
            called = [method for known, method in methods if known == name]
            for method in called or ("fullmatch",):
                key = (repr(pattern), method)
                uses.setdefault(key, Use(f"{module.__name__}.{name}", pattern, method))
        for name, method, call in calls:
            if name == "re":
                pattern = re.compile(ast.literal_eval(call.args[0]))
                place = f"{module.__name__}:{call.lineno}"
                uses.setdefault((repr(pattern), method), Use(place, pattern, method))
    return list(uses.values())


def _source_of(module: ModuleType) -> str:
    return Path(str(module.__file__)).read_text()


def _calls(tree: ast.Module) -> Iterator[Any]:
    for node in ast.walk(tree):
        is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_method and node.func.attr in _METHODS:  # type: ignore[attr-defined]
            yield node


class HostileText(NamedTuple):
    """A part that is repeated, what leads to it, and an end that cannot match."""

    begin: str
    part: str
    end: str

    def of(self, length: int) -> str:
        return self.begin + self.part * (length // len(self.part)) + self.end


class _Parts(NamedTuple):
    """The shortest text that a pattern matches, and (what leads to it, itself) of each part that a
    hostile text may repeat."""

    shortest: str
    repeated: list[tuple[str, str]]


def _parts(parsed: Any) -> _Parts:
    shortest = ""
    repeated: list[tuple[str, str]] = []
    for operator, value in parsed:
        name = str(operator)
        inner = [_parts(each) for each in _inner(name, value)]
        repeated += [(shortest + before, part) for each in inner for before, part in each.repeated]
        repeated += [(shortest, each.shortest) for each in inner if each.shortest]
        if "REPEAT" in name:
            shortest += inner[0].shortest * value[0]
        elif inner and "ASSERT" not in name:
            shortest += inner[0].shortest
        else:
            shortest += _character(name, value)
    return _Parts(shortest, repeated)


def _inner(name: str, value: Any) -> list[Any]:
    """The patterns within a part."""
    if name == "BRANCH":
        return list(value[1])
    if "REPEAT" in name or "ASSERT" in name or name == "SUBPATTERN":
        return [value[-1]]
    return [value] if name == "ATOMIC_GROUP" else []


def _character(name: str, value: Any) -> str:
    """A character that a part matches; "" for a part that matches none."""
    if name in ("LITERAL", "NOT_LITERAL"):
        return chr(value) if name == "LITERAL" else next(c for c in _CHARACTERS if ord(c) != value)
    if name == "IN":
        return next((c for c in _CHARACTERS if _is_in(value, c)), "")
    return "." if name == "ANY" else ""


def _is_in(items: list[tuple[Any, Any]], character: str) -> bool:
    for operator, value in items:
        name = str(operator)
        is_found = (
            (name == "LITERAL" and ord(character) == value)
            or (name == "RANGE" and value[0] <= ord(character) <= value[1])
            or (name == "CATEGORY" and _is_in_category(str(value), character))
        )
        if is_found:
            return str(items[0][0]) != "NEGATE"
    return str(items[0][0]) == "NEGATE"


def _is_in_category(name: str, character: str) -> bool:
    is_in = {
        "DIGIT": character.isdigit(),
        "SPACE": character.isspace(),
        "WORD": character.isalnum() or character == "_",
    }[name.rpartition("_")[2]]
    return is_in != ("_NOT_" in name)


def _hostile_texts(pattern: Pattern) -> set[HostileText]:
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    shortest, repeated = _parts(_PARSER.parse(source, pattern.flags & ~re.UNICODE))
    parts = {*repeated, ("", shortest), *(("", character) for character in _HOSTILE)}
    return {HostileText(*part, end) for part, end in product(parts, _ENDS) if part[1]}


def _time_s(call: Callable[[str], object], text: str, times: int) -> float:
    """The processor time of a call, of several the shortest."""
    took = []
    for _ in range(times):
        began = time.thread_time()
        call(text)
        took.append(time.thread_time() - began)
    return min(took)


def _is_linear(call: Callable[[str], object], text: HostileText, times: int = 1) -> bool:
    before = 0.0
    for length in _LENGTHS:
        took = _time_s(call, text.of(length), times)
        if took > _MEASURABLE_S and took > _MAX_GROWTH * before:
            return False
        before = max(took, _MEASURABLE_S / _MAX_GROWTH)
    return True


def _find_superlinear(
    call: Callable[[str], object], texts: Iterable[HostileText]
) -> HostileText | None:
    # What was interrupted in the first measurement is measured again.
    for text in texts:
        if not _is_linear(call, text) and not _is_linear(call, text, times=5):
            return text
    return None


def _find_superlinear_use(use: Use) -> HostileText | None:
    return _find_superlinear(use.call, sorted(_hostile_texts(use.pattern)))


def test_every_regular_expression_takes_linear_time() -> None:
    uses = _uses()
    assert len(uses) > 50
    found = {str(use): _find_superlinear_use(use) for use in uses}
    assert {use: text for use, text in found.items() if text is not None} == {}


@pytest.mark.parametrize(
    ("pattern", "method"),
    [(r"(?:[^/?#\s]*[.:\]][^/?#\s]*|localhost)(?=[/?#]|$)", "match"), (r"\s*;", "search")],
)
def test_a_quadratic_expression_is_found(pattern: str, method: str) -> None:
    assert _find_superlinear_use(Use("here", re.compile(pattern), method)) is not None


# Marks of different classes, which Unicode's normalisation sorts; the last decomposes into two.
_MARKS = ("\u0316\u0301", "\u0301\u0316", "\u0f73")


def _find_superlinear_call(call: Callable[[str], object]) -> HostileText | None:
    parts = (*_MARKS, *'\n ."<&)(', "a.", "http://a.", "http://", "%41", "\t=", "' ")
    return _find_superlinear(
        call, (HostileText(begin, *rest) for begin in ("", "a") for rest in product(parts, _ENDS))
    )


def test_a_text_is_indexed_for_the_search_in_linear_time() -> None:
    assert _find_superlinear_call(split_words) is None


def test_urls_are_linked_in_linear_time() -> None:
    assert _find_superlinear_call(link_urls) is None


def test_a_cell_of_a_csv_file_is_escaped_in_linear_time() -> None:
    assert _find_superlinear_call(csv_file.escape) is None


def test_a_pasted_request_is_parsed_in_linear_time() -> None:
    assert _find_superlinear_call(parsing.parse_target) is None
    assert _find_superlinear_call(parsing.parse_signature) is None
