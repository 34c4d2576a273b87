"""Problem types (RFC 9457): the declarations of the error codes."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import msgspec


def gettext_noop(message: str) -> str:
    """Mark a message for extraction; it is translated when it is shown."""
    return message


class ProblemType(msgspec.Struct, frozen=True, kw_only=True):
    """The declaration of an error code, for responses, documentation and pages.

    message: the template of `detail`, with named values as in `%(limit)s`.
    meaning, remedy: the documentation of the code. example: values for its example response.
    members: the values that are members of the problem document besides `detail`.
    choices: the possible values of members that are one of a few.
    headers: templates of response headers. page_title, page_advice: what a page shows instead of
    title and message.
    """

    code: str
    status: int
    title: str
    message: str
    meaning: str
    remedy: str
    example: dict[str, Any] = {}
    members: tuple[str, ...] = ()
    choices: dict[str, tuple[str, ...]] = {}
    headers: dict[str, str] = {}
    page_title: str = ""
    page_advice: str = ""

    def variant(
        self, message: str, *, status: int | None = None, headers: dict[str, str] | None = None
    ) -> "ProblemType":
        """The same code with another message, and optionally another status or other headers."""
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
        """The extension members of the problem document."""
        return {name: values[name] for name in self.members if name in values}


def declared_in(*modules: ModuleType) -> tuple[ProblemType, ...]:
    """The problem types of modules in their order, without variants of a code."""
    by_code: dict[str, ProblemType] = {}
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, ProblemType):
                by_code.setdefault(value.code, value)
    return tuple(by_code.values())
