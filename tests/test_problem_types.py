"""The declarations of error codes: complete, raised as declared, and documented."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import sealdesk
from sealdesk import errors
from sealdesk.errors import ApiError, Fault, ProblemType
from sealdesk.routes import PROBLEM_TYPES
from tests.support import error_table
from tests.support.for_each import for_each

_ROOT = Path(sealdesk.__file__).parent
_NAMED_VALUE = re.compile(r"%\((\w+)\)s")
_CLASSES: dict[str, type[ApiError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, ApiError)
}


def _modules() -> Iterator[Any]:
    """Every module of the source that raises errors."""
    for info in pkgutil.walk_packages([str(_ROOT)], "sealdesk."):
        if info.name.startswith(("sealdesk.db.migrations", "sealdesk.client")):
            continue
        if info.name.endswith("__main__"):
            continue
        yield importlib.import_module(info.name)


@cache
def _raised() -> tuple[tuple[str, type[ApiError], ProblemType, set[str]], ...]:
    """(place, class, problem type, names of values) of every error that the source creates."""
    return tuple(_found())


def _found() -> Iterator[tuple[str, type[ApiError], ProblemType, set[str]]]:
    for module in _modules():
        text = Path(module.__file__).read_text()
        if not any(f"{name}(" in text for name in _CLASSES):
            continue  # to parse all takes two seconds
        for call in ast.walk(ast.parse(text)):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            error = _CLASSES.get(call.func.id)
            for name in ast.walk(call.args[0]) if error and call.args else ():
                found = _value_of(name, module)
                if error and isinstance(found, ProblemType):
                    given = {keyword.arg or "" for keyword in call.keywords}
                    yield f"{module.__name__}:{call.lineno}", error, found, given


def _value_of(node: ast.AST, module: Any) -> Any:
    """The value of a name or of a module attribute in this module."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return getattr(getattr(module, node.value.id, None), node.attr, None)
    return getattr(module, node.id, None) if isinstance(node, ast.Name) else None


def test_every_code_is_declared_once_in_snake_case() -> None:
    codes = [each.code for each in PROBLEM_TYPES]
    assert sorted(codes) == sorted(set(codes))
    assert [code for code in codes if not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", code)] == []


@for_each("declared", PROBLEM_TYPES, ids=lambda each: each.code)
def test_a_declaration_has_a_meaning_and_a_remedy(declared: ProblemType) -> None:
    assert 400 <= declared.status <= 599
    for text in (declared.title, declared.meaning, declared.remedy):
        assert text and text.strip() == text
    assert declared.detail(declared.example)
    assert declared.example.keys() >= {*declared.members}
    assert bool(declared.page_title) == bool(declared.page_advice)


def test_every_declared_code_is_collected_for_the_documentation() -> None:
    declared = {
        value.code
        for module in _modules()
        for value in vars(module).values()
        if isinstance(value, ProblemType)
    }
    assert declared == {each.code for each in PROBLEM_TYPES}


def test_an_error_is_raised_with_the_class_of_its_status() -> None:
    wrong = [place for place, error, raised, _ in _raised() if error.status != raised.status]
    assert wrong == []
    assert len(_raised()) > 60


def test_an_error_is_raised_with_the_values_that_its_texts_name() -> None:
    wrong = []
    for place, _, raised, given in _raised():
        texts = " ".join((raised.message, *raised.headers.values()))
        if not {*_NAMED_VALUE.findall(texts)} <= given:
            wrong.append(place)
    assert wrong == []


def test_every_code_is_raised() -> None:
    by_default = {errors.NotFound().code, errors.ServiceUnavailable().code}
    always = {errors.InternalError().code, errors.invalid([Fault("", "required", "")]).code}
    raised = {raised.code for _, _, raised, _ in _raised()}
    assert raised | by_default | always == {each.code for each in PROBLEM_TYPES}


def test_the_guide_to_errors_lists_the_declared_codes() -> None:
    assert error_table.in_guide() == error_table.declared(), error_table.REMEDY


def test_the_guide_to_signing_lists_the_declared_mistakes() -> None:
    assert error_table.mistakes_in_guide() == error_table.declared_mistakes(), error_table.REMEDY
