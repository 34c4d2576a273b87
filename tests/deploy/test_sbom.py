"""The software bill of materials names exactly what is locked."""

import json
import re
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_LOCKED = re.compile(r"^([a-z0-9-]+)(?:\[[^\]]*\])?==([^ ;]+)( ;)?", re.MULTILINE)


def components() -> list[dict[str, Any]]:
    document = json.loads((_ROOT / "deploy" / "sbom.cdx.json").read_text())
    assert document["bomFormat"] == "CycloneDX"
    return list(document["components"])


def test_it_has_the_packages_of_the_lock_and_no_others() -> None:
    locked = _LOCKED.findall((_ROOT / "requirements-bucket.lock").read_text())
    everywhere = {(name, version) for name, version, marker in locked if not marker}
    assert len(everywhere) > 30
    named = {
        (re.sub(r"[-_.]+", "-", each["name"].lower()), each["version"]) for each in components()
    }
    assert everywhere <= named <= {(name, version) for name, version, _ in locked}


def test_each_package_has_a_licence() -> None:
    assert [each["name"] for each in components() if not each.get("licenses")] == []
