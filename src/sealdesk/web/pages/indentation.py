"""Templates without their indentation, which was a twentieth of a page."""

import re

from jinja2.ext import Extension

_PREFORMATTED = re.compile(r"(<pre.*?</pre>)", re.DOTALL)
_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)


class Unindented(Extension):
    """Removes the indentation of all lines but those that browsers show as they are."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """The source with the same lines."""
        parts = _PREFORMATTED.split(source)
        parts[::2] = [_INDENTATION.sub("", part) for part in parts[::2]]
        return "".join(parts)
