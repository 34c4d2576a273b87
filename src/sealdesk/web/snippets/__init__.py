"""Programs that sign and send one request, in nine languages.

The files are copies of docs/snippets: `python -m tests.snippets` writes them.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent
_BODY_OPTIONS = " \\\n  -H 'content-type"
_AFTER_CURL = " ||"


class Snippet(NamedTuple):
    """A program. file: its name in docs/snippets; command: runs it, and may add arguments."""

    name: str
    title: str
    file: str
    command: str

    @property
    def text(self) -> str:
        """The whole program."""
        return _read(self.file)


SNIPPETS = (
    Snippet("curl", "curl", "call.sh", "sh call.sh"),
    Snippet("python", "Python", "call.py", "python3 call.py"),
    Snippet("requests", "requests", "call_requests.py", "python3 call_requests.py"),
    Snippet("httpx", "httpx", "call_httpx.py", "python3 call_httpx.py"),
    Snippet("node", "Node", "call.mjs", "node call.mjs"),
    Snippet("php", "PHP", "call.php", "php call.php"),
    Snippet("ruby", "Ruby", "call.rb", "ruby call.rb"),
    Snippet("go", "Go", "call.go", "go run call.go"),
    Snippet("java", "Java", "Sealdesk.java", "java Sealdesk.java"),
)
BY_NAME = {snippet.name: snippet for snippet in SNIPPETS}


def curl(
    method: str, target: str, body: str = "''", *, content_type: str = "application/json"
) -> str:
    """The commands that send this request, to paste. body: a quoted word of the shell."""
    _, separator, rest = BY_NAME["curl"].text.partition("TIMESTAMP=")
    if body == "''":
        sent, _, options = rest.partition(_BODY_OPTIONS)
        rest = sent + _AFTER_CURL + options.partition(_AFTER_CURL)[2]
    rest = rest.replace("application/json", content_type)
    return f"METHOD='{method}'\nTARGET='{target}'\nBODY={body}\n{separator}{rest}"


@cache
def _read(file: str) -> str:
    return (_HERE / f"{file}.txt").read_text()
