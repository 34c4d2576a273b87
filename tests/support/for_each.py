"""Many cases of one behaviour as one test, which lists every case that fails."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def for_each(
    names: str | Sequence[str], cases: Iterable[Any], ids: Callable[[Any], object] = str
) -> Callable[[Test], Test]:
    """In place of pytest.mark.parametrize, where cases can share their fixtures.

    One item costs as much time to collect, in every process, as many cases take to run.
    """
    arguments = [names] if isinstance(names, str) else [*names]
    listed = [*cases]
    assert listed, "a test without cases cannot fail"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def all_cases(**fixtures: Any) -> None:
            errors: list[BaseException] = []
            for case in listed:
                values = [case] if isinstance(names, str) else [*case]
                try:
                    test(**fixtures, **dict(zip(arguments, values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"case: {', '.join(str(ids(value)) for value in values)}")
                    errors.append(error)
            if errors:
                raise BaseExceptionGroup(f"{len(errors)} of {len(listed)} cases", errors)

        signature = inspect.signature(test)
        shown = [one for name, one in signature.parameters.items() if name not in arguments]
        all_cases.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        return all_cases

    return decorate
