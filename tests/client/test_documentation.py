"""The code in docs/clients/python.md runs with the wheel that the page installs."""

import re
from pathlib import Path

import pytest
from docs_builder import downloads

from sealdesk.crypto.webhook_signing import key_of, mint_secret, sign
from tests.support.client import Key

_GUIDE = (Path(__file__).parents[2] / "docs" / "clients" / "python.md").read_text()
_BLOCKS = re.findall(r"^```python\n(.*?)^```", _GUIDE, re.M | re.S)


def test_the_code_of_the_guide_runs_in_order(
    key: Key, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEALDESK_API_URL", key.service.url)
    monkeypatch.setenv("SEALDESK_API_KEY", key.api_key)
    monkeypatch.setenv("SEALDESK_API_SECRET", key.api_secret)
    monkeypatch.chdir(tmp_path)
    wheel = tmp_path / "client.whl"
    wheel.write_bytes(downloads.client_wheel())
    monkeypatch.syspath_prepend(str(wheel))
    program: dict[str, object] = {}
    exec("\n".join(_BLOCKS), program)  # noqa: S102 # it is ours
    printed = capsys.readouterr().out
    for words in ("cracked", "bo@example.com", "ticket.created", "not_found", "200"):
        assert words in printed
    for name in ("desk", "patient"):
        program[name].close()  # type: ignore[attr-defined]
    receive = program["receive"]
    assert callable(receive)
    secret, body = mint_secret(), b'{"id":"e","type":"ticket.created","timestamp":""}'
    now_s = key.service.clock.now_us() // 1_000_000
    headers = {
        "webhook-id": "e",
        "webhook-timestamp": str(now_s),
        "webhook-signature": sign(key_of(secret), "e", now_s, body),
    }
    assert (receive(body, headers, secret), receive(b"{}", headers, secret)) == (204, 400)
