"""The Postman collection is current, and its script signs what Postman sends."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import vectors
from tests.interop import NODE
from tests.postman.collection import COLLECTION, SCRIPT, generated
from tests.support.client import Key
from tests.support.databases import on_sqlite
from tests.typescript.runtimes import find

# What Postman gives to a script, as far as ours uses it.
_SANDBOX = """
import { createHash, createHmac } from "node:crypto";
import vm from "node:vm";
import { readFileSync } from "node:fs";

const { script, cases, variables, timestamp } = JSON.parse(readFileSync(0, "utf8"));
const hashed = (hash) => ({ toString: () => hash.digest("hex") });
const crypto = {
  enc: { Hex: {} },
  SHA256: (text) => hashed(createHash("sha256").update(text)),
  HmacSHA256: (text, key) => hashed(createHmac("sha256", key).update(text)),
};
const fill = (text) => text.replace(/{{(\\w+)}}/g, (_, name) => variables[name]);
const signed = cases.map(({ method, target, body }) => {
  const headers = {};
  const sent = { target, body };
  const request = {
    method,
    url: { getPathWithQuery: () => target, update: (url) => (sent.target = url) },
    body: body ? { mode: "raw", raw: body, update: (next) => (sent.body = next.raw) } : undefined,
    headers: { upsert: ({ key, value }) => (headers[key] = value) },
  };
  const pm = { request, variables: { replaceIn: fill } };
  class FixedDate extends Date {
    static now() {
      return timestamp * 1000;
    }
  }
  vm.runInNewContext(script, { pm, require: () => crypto, encodeURIComponent, Date: FixedDate });
  return { ...sent, headers };
});
console.log(JSON.stringify(signed));
"""


def test_the_collection_fits_the_openapi_document() -> None:
    stale = [path.name for path, text in generated().items() if path.read_text() != text]
    assert stale == [], "run .venv/bin/python -m tests.typescript"


def test_its_script_signs_every_vector() -> None:
    cases = [
        {"method": each.method, "target": each.target, "body": each.body.decode()}
        for each in vectors.VALID
    ]
    variables = {
        "base_url": "https://desk.example.com",
        "api_key": vectors.API_KEY,
        "api_secret": vectors.API_SECRET,
    }
    given = {
        "script": SCRIPT.read_text(), "cases": cases, "variables": variables,
        "timestamp": int(vectors.TIMESTAMP),
    }  # fmt: skip
    done = subprocess.run(
        [NODE, "--input-type=module", "--eval", _SANDBOX],
        input=json.dumps(given), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for vector, sent in zip(vectors.VALID, json.loads(done.stdout), strict=True):
        assert sent["headers"]["x-api-signature"] == vector.signature, vector.name
        assert sent["target"] == f"https://desk.example.com{vector.target}"


@pytest.fixture
def live_key(template: Path, tmp_path: Path) -> Iterator[Key]:
    with on_sqlite(template)(tmp_path / "data") as service:
        yield service.tenant().key()


@pytest.mark.prove
def test_the_runner_of_postman_sends_no_request_that_is_refused(
    live_key: Key, tmp_path: Path
) -> None:
    collection = json.loads(COLLECTION.read_text())
    awkward = "{{base_url}}/api/v1/external/customers?email=J\u00fcrgen K+%2F%c3'{}|\""
    collection["item"].append({"name": "awkward", "request": {"method": "GET", "url": awkward}})
    (tmp_path / "collection.json").write_text(json.dumps(collection))
    values = {
        "base_url": live_key.service.url,
        "api_key": live_key.api_key,
        "api_secret": live_key.api_secret,
    }
    given = [text for name, value in values.items() for text in ("--env-var", f"{name}={value}")]
    report = ["--reporters", "json", "--reporter-json-export", "report.json"]
    subprocess.run(
        [NODE, find("newman/bin/newman.js"), "run", "collection.json", *given, *report],
        cwd=tmp_path, env={"PATH": os.environ["PATH"]}, check=True, timeout=110,
    )  # fmt: skip
    executions = json.loads((tmp_path / "report.json").read_text())["run"]["executions"]
    codes = {each["item"]["name"]: each["response"]["code"] for each in executions}
    assert len(codes) > 20
    assert codes["whoami"] == codes["list_tickets"] == 200
    refused = [name for name, code in codes.items() if code in (401, 403) or code >= 500]
    # The clock of test mode is for keys of test mode only.
    assert [name for name in refused if "test_clock" not in name] == []
