"""The programs of docs/snippets: how each is run, and the copies that are made of them."""

from pathlib import Path

from sealdesk.web.snippets import SNIPPETS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "docs" / "snippets"
_COPIES = ROOT / "src" / "sealdesk" / "web" / "snippets"
_MARKDOWN = {".sh": "sh", ".py": "python", ".mjs": "js", ".rb": "ruby"}
_NEEDS = {
    "call.sh": "curl 7.76 or newer, and openssl.",
    "call.py": "The standard library alone.",
    "call_requests.py": "`pip install requests`. `SealdeskAuth` signs what requests has prepared.",
    "call_httpx.py": "`pip install httpx`. `SealdeskAuth` also works with `httpx.AsyncClient`.",
    "call.mjs": "Node 18 or newer. The [client](../clients/typescript.md) does more.",
    "call.php": "PHP 8 with the extension curl.",
    "call.rb": "The standard library alone.",
    "call.go": "The standard library alone.",
    "Sealdesk.java": "Java 17 or newer, and no library.",
}
_HEAD = """# Programs that sign a request

Each program signs and sends one request. It reads `SEALDESK_API_URL` (scheme and host),
`SEALDESK_API_KEY` and `SEALDESK_API_SECRET` from the environment, and takes a method, a path with
its query, and a JSON body as arguments:

```sh
python3 call.py GET '/api/v1/external/tickets?status=open&per_page=5'
python3 call.py POST /api/v1/external/customers '{"email": "ann@example.com"}'
```

Without arguments it sends `GET /api/v1/external/whoami`. It also sends
[what it has signed](../api/signing.md#when-a-signature-is-refused), so that a refusal shows the
first difference; the program then prints the answer and ends with status 1.
[Sign a request](../api/signing.md) explains each step. The tests run every program unchanged.
"""


def copies() -> dict[Path, str]:
    """Each file that is made from the programs, and what it contains."""
    made = {_COPIES / f"{each.file}.txt": (SOURCE / each.file).read_text() for each in SNIPPETS}
    return {**made, SOURCE / "README.md": _readme()}


def _readme() -> str:
    sections = [_HEAD]
    for each in SNIPPETS:
        name, suffix = each.file, Path(each.file).suffix
        text = (SOURCE / name).read_text()
        language = _MARKDOWN.get(suffix, suffix[1:])
        title = f"Python with {each.title}" if name.startswith("call_") else each.title
        sections.append(f"## {title}\n\n`{name}`. {_NEEDS[name]}\n\n```{language}\n{text}```\n")
    return "\n".join(sections)
