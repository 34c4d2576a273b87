"""Known requests and their signatures: 13 valid ones, 15 with a named mistake."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from sealdesk.crypto.signing import Signed

_FILE: dict[str, Any] = json.loads((Path(__file__).parent / "signatures.json").read_text())
API_KEY: str = _FILE["api_key"]
API_SECRET: str = _FILE["api_secret"]
TIMESTAMP: str = _FILE["timestamp"]


class Vector(NamedTuple):
    """A request and a signature. host: of the address that the signer believed in."""

    name: str
    method: str
    target: str
    body: bytes
    message: str
    signature: str
    host: str

    def parts(self) -> Signed:
        return Signed(TIMESTAMP.encode(), self.method.encode(), self.target.encode(), self.body)


def _vector(case: dict[str, str]) -> Vector:
    return Vector(
        case["name"],
        case["method"],
        case["request_target"],
        case["body_utf8"].encode(),
        case.get("message", ""),
        case.get("signature") or case["wrong_signature"],
        case.get("signed_base", "https://sealdesk.test").removeprefix("https://"),
    )


VALID = [_vector(case) for case in _FILE["valid"]]
WRONG = [_vector(case) for case in _FILE["invalid"]]
# These two are found by the format of a header, before any signature is computed.
BY_SHAPE = {
    "timestamp_milliseconds": "timestamp_not_seconds",
    "uppercase_hex": "malformed_credentials",
}
