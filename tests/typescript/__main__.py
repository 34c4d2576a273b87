"""`python -m tests.typescript`: write what is made from the OpenAPI document."""

from tests.postman import collection
from tests.typescript.build import node_modules
from tests.typescript.sources import generated

for path, text in {**generated(node_modules()), **collection.generated()}.items():
    path.write_text(text)
