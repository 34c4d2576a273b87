"""`python -m tests.typescript`: write what is made from the OpenAPI document, and the build."""

import shutil

from tests.postman import collection
from tests.typescript.build import DIST, built, node_modules, packed_build
from tests.typescript.sources import generated

for path, text in {**generated(node_modules()), **collection.generated()}.items():
    path.write_text(text)
shutil.rmtree(DIST, ignore_errors=True)
DIST.mkdir()
for name, content in packed_build(built()).items():
    (DIST / name).write_bytes(content)
