"""The examples of the documentation run as they are, against the service."""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from docs_builder.reference import shell

from sealdesk.automation.examples import NEW_RULE
from sealdesk.routes import ROUTES
from sealdesk.tickets.customer_merging.api import MERGE as MERGE_CUSTOMER
from sealdesk.tickets.followers.api import NEW_FOLLOWER
from sealdesk.tickets.links.api import NEW_LINK
from sealdesk.tickets.merging.api import MERGE, SPLIT
from sealdesk.web.documentation import read_archive
from tests.cli.terminal import Terminal
from tests.support.client import Key
from tests.support.databases import SQLITE_FIRST
from tests.support.service import Service

_FILES = read_archive()
_TWINS = {
    path: gzip.decompress(file.content).decode()
    for path, file in _FILES.items()
    if path.endswith(".md")
}
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Webhooks need an endpoint that can be reached, which an example cannot be.
_SIGNED = [
    row.operation for row in ROUTES if row.guard.scheme == "hmac" and "/webhooks" not in row.path
]
_AN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}(?=['/])")


def _blocks(markdown: str) -> list[tuple[str, str, str]]:
    """(language, title, code) of each block of code."""
    return [(language, title.strip(), code) for language, title, code in _BLOCK.findall(markdown)]


def _run(program: list[str], text: str, key: Key) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **_environment(key)}
    return subprocess.run(
        program, input=text, env=environment, capture_output=True, check=False, text=True,
        timeout=300,
    )  # fmt: skip


def _environment(key: Key) -> dict[str, str]:
    return {
        "SEALDESK_API_URL": key.service.url,
        "SEALDESK_API_KEY": key.api_key,
        "SEALDESK_API_SECRET": key.api_secret,
    }


def test_the_signing_example_sends_a_valid_request(key: Key) -> None:
    ticket = key.ticket(subject="Found by the example")
    blocks = _blocks(_TWINS["/docs/api/signing.md"])
    done = _run(["sh"], next(code for name, _, code in blocks if name == "sh"), key)
    assert ticket["id"] in done.stdout, done.stderr


def test_the_first_five_minutes_run_as_one_script(key: Key) -> None:
    steps = [
        code
        for name, title, code in _blocks(_TWINS["/docs/start.md"])
        if name == "sh" and not title
    ]
    done = _run(["sh", "-e"], "\necho\n".join(steps), key)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert [*answers[0]["data"]] and answers[1]["data"]["subject"] == "Hello", done.stderr
    assert [each["id"] for each in answers[2]["data"]] == [answers[1]["data"]["id"]]
    assert "ticket.created" in [each["type"] for each in answers[3]["data"]]


@pytest.mark.parametrize(("wrong", "status"), [("", 0), ("[::-1]", 1)])
def test_the_check_of_the_vectors_passes_and_can_fail(wrong: str, status: int) -> None:
    (check,) = [
        code for name, _, code in _blocks(_TWINS["/docs/api/vectors.md"]) if name == "python"
    ]
    vectors = gzip.decompress(_FILES["/docs/vectors.json"].content)
    program = check.replace(".hexdigest()\n", f".hexdigest(){wrong}\n")
    done = subprocess.run([sys.executable, "-c", program], input=vectors, check=False)
    assert done.returncode == status


@SQLITE_FIRST
@pytest.mark.parametrize("name", [each.name for each in _SIGNED])
def test_the_requests_of_every_signed_operation_work_unchanged(
    service: Service, name: str, tmp_path: Path
) -> None:
    for title, block in _requests(name).items():
        tenant = service.tenant()
        key = tenant.test_key() if name.endswith("_test_clock") else tenant.key()
        if name == "set_participants":
            address = f"{tenant.id}@acme.test"
            tenant.admin().post("/api/v1/mailboxes", {"address": address})
        pasted = _AN_ID.sub(_own_id(key, name, block), block)
        for example, own in _own_examples(key, name, pasted).items():
            pasted = pasted.replace(example, own)
        if title == "sealdesk call":
            terminal = Terminal(tmp_path).with_env(**_environment(key))
            done = terminal.run(*shlex.split(pasted)[1:])
        else:
            done = _run(["sh"], pasted, key)
        assert done.returncode == 0, f"{title}: {done.stderr}{done.stdout}"
        begin = {
            "download": "text",
            "remove_follower": "",
            "remove_link": "",
            "delete_customer": "",
            "delete_rule_by_key": "",
        }.get(name, '{"data":')
        assert "".join(done.stdout.split()).startswith(begin), title


def _requests(name: str) -> dict[str, str]:
    """Title → example request of an operation."""
    tag = next(each.tag for each in _SIGNED if each.name == name)
    summary = next(each.summary for each in _SIGNED if each.name == name)
    page = _TWINS[f"/docs/reference/{tag.lower().replace(' ', '-')}.md"]
    section = page.partition(f"\n## {summary}\n")[2].partition("\n## ")[0]
    return {title: code for language, title, code in _blocks(section) if language == "sh"}


def _own_id(key: Key, name: str, example: str) -> str:
    """The id of an object of the kind that the address of the example names."""
    if "/customers/" in example:
        customer_id = str(key.customer("snippet@example.test")["id"])
        if name == "get_erasure":
            key.post(f"/api/v1/external/customers/{customer_id}/erase", None)
        if name == "undo_customer_merge":
            into = {"into": key.customer("other@example.test")["id"]}
            key.post(f"/api/v1/external/customers/{customer_id}/merge", into)
        return customer_id
    if "/rules/" in example:
        return str(key.post("/api/v1/external/rules", NEW_RULE).json()["data"]["id"])
    if "/attachments/" in example:
        return str(key.attachment(content=b"text")["id"])
    ticket = key.ticket()
    if name == "undo_merge":
        key.post(f"/api/v1/external/tickets/{ticket['id']}/merge", {"into": key.ticket()["id"]})
    return str(ticket["id"])


def _own_examples(key: Key, name: str, example: str) -> dict[str, str]:
    """Example id in the body → an id for which the request succeeds."""
    if name == "add_follower":
        agent = key.get("/api/v1/external/agents").json()["data"][0]
        return {NEW_FOLLOWER["user_id"]: agent["id"]}
    if name == "merge_customer":
        return {MERGE_CUSTOMER["into"]: key.customer("other@example.test")["id"]}
    if name == "add_link":
        return {NEW_LINK["ticket_id"]: key.ticket()["id"]}
    if name == "merge_ticket":
        return {MERGE["into"]: key.ticket()["id"]}
    if name != "split_ticket":
        return {}
    path = re.findall(r"'(/api/[^']+)/split'", example)[0]
    reply = key.post(f"{path}/replies", {"body": "A second question"}).json()["data"]
    return {SPLIT["reply_id"]: reply["id"]}


def test_bodies_with_quotes_are_quoted_for_the_shell() -> None:
    value = {"text": 'it\'s $HOME `id` \\ "quoted"'}
    done = subprocess.run(
        ["sh", "-c", f"printf %s {shell(value)}"], capture_output=True, check=True, text=True
    )
    assert json.loads(done.stdout) == value
