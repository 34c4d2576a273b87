"""Five minutes of schemathesis with the document that is published, also along its links."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealdesk.event_log import long_poll
from tests.support.databases import Begin
from tests.support.receiver import LOOPBACK
from tests.support.service import Service

_ROOT = Path(__file__).parents[2]
_LASTS_S = int(os.environ.get("FUZZING_LASTS_S", "300"))
_CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance"
    ",response_headers_conformance,response_schema_conformance,negative_data_rejection"
)
# A bad body may also be too large, and a request may come when a limit is reached. A bad item of a
# bulk request is refused in its own result, so the response is 200.
_CONFIG = """\
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "409", "412", "413", "415", "422", "429"]

[[operations]]
include-path = "/api/v1/external/tickets/bulk"
checks.negative_data_rejection.expected-statuses = ["200", "400", "401", "403", "415", "422", "429"]
"""


@pytest.fixture
def fuzzed(begin: Begin, tmp_path: Path) -> Iterator[Service]:
    """A service of its own, in which nobody waits for an event."""
    with begin(tmp_path / "data", **LOOPBACK) as service, pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_poll, "MAX_WAITERS", 0)
        yield service


@pytest.mark.prove
@pytest.mark.timeout(_LASTS_S * 4)
def test_five_minutes_of_requests_find_nothing(fuzzed: Service, tmp_path: Path) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(_CONFIG)
    options = (
        f"--max-time={_LASTS_S}", f"--checks={_CHECKS}", "--continue-on-failure", "--no-color",
        "--suppress-health-check=all", "--generation-with-security-parameters=false",
        f"--url={fuzzed.url}",
    )  # fmt: skip
    program = Path(sys.executable).with_name("schemathesis")
    done = subprocess.run(
        [program, "--config-file", config, "run", *options, f"{fuzzed.url}/openapi.json"],
        cwd=tmp_path,
        env=_environment(fuzzed),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]


def _environment(service: Service) -> dict[str, str]:
    """What hooks.py needs to authenticate requests."""
    tenant = service.tenant()
    keys = [tenant.key(rate_limit=10_000) for _ in range(4)]
    return {
        **os.environ,
        "PYTHONPATH": str(_ROOT),
        "SCHEMATHESIS_HOOKS": "tests.spec_fuzz.hooks",
        "FUZZED_KEYS": " ".join(f"{key.api_key}:{key.api_secret}" for key in keys),
        "FUZZED_TOKEN": tenant.admin().token,
        "FUZZED_OWN_TOKEN": tenant.log_in("agent").token,
    }
