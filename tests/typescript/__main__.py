"""`python -m tests.typescript`: write what is made from the OpenAPI document, and the build."""

import shutil

from tests.postman import collection
from tests.typescript.build import JAVASCRIPT, built, node_modules, packed_build
from tests.typescript.sources import generated

for path, text in {**generated(node_modules()), **collection.generated()}.items():
    path.write_text(text)
shutil.rmtree(JAVASCRIPT, ignore_errors=True)
JAVASCRIPT.mkdir()
for name, content in packed_build(built()).items():
    (JAVASCRIPT / name).write_bytes(content)
