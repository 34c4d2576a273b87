"""What is declared of an error code: RFC 9457 calls it a problem type."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import msgspec


def gettext_noop(message: str) -> str:
    """Mark a message for extraction that is translated where it is shown."""
    return message


class ProblemType(msgspec.Struct, frozen=True, kw_only=True):
    """The one declaration of an error code: the response, the documentation and the page.

    message: the template of `detail`, with named values as in `%(limit)s`.
    meaning, remedy: the documentation of the code. example: values for its example response.
    members: the values that are members of the problem document besides `detail`.
    headers: templates of response headers. page_title, page_advice: shown in place of title and
    message by a page.
    """

    code: str
    status: int
    title: str
    message: str
    meaning: str
    remedy: str
    example: dict[str, Any] = {}
    members: tuple[str, ...] = ()
    headers: dict[str, str] = {}
    page_title: str = ""
    page_advice: str = ""

    def variant(
        self,
        message: str,
        *,
        status: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> "ProblemType":
        """The same code with another message, and where needed another status or headers."""
        return msgspec.structs.replace(
            self,
            message=message,
            status=self.status if status is None else status,
            headers=self.headers if headers is None else headers,
        )

    def detail(self, values: Mapping[str, Any]) -> str:
        """The message in English with these values."""
        return self.message % values

    def members_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The members of the problem document that these values give."""
        return {name: values[name] for name in self.members if name in values}


def declared_in(*modules: ModuleType) -> tuple[ProblemType, ...]:
    """The problem types of modules in their order, without variants of a code."""
    found: dict[str, ProblemType] = {}
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, ProblemType):
                found.setdefault(value.code, value)
    return tuple(found.values())
