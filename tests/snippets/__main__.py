"""`python -m tests.snippets`: write the copies of docs/snippets."""

from tests.snippets import copies

for path, text in copies().items():
    path.write_text(text)
