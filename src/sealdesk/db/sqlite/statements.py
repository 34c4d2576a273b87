"""SQL with named parameters, as SQLite runs it."""

import re
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from sealdesk.db.engine import Params

_NAME_OR_TEXT = re.compile(r"'[^']*'|:([a-z_][a-z0-9_]*)")
_WORD = re.compile(r"\w+")


class Statement(NamedTuple):
    """SQL with `?1` …, what gives the values in this order, and the words of the text.

    SQLite would look each name up in the statement, for each of its runs.
    """

    text: str
    values: Callable[[Params], tuple[Any, ...]]
    words: frozenset[str]


@lru_cache(maxsize=2048)
def numbered(sql: str) -> Statement:
    """The statement with a number for each name."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0]
        if name not in names:
            names.append(name)
        return f"?{names.index(name) + 1}"

    text = _NAME_OR_TEXT.sub(number, sql)
    # With one name an itemgetter gives a value, no tuple.
    values = itemgetter(*names) if len(names) > 1 else lambda p: tuple(p[name] for name in names)
    return Statement(text, values, frozenset(_WORD.findall(sql)))
