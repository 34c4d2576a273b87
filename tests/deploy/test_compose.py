"""The composition of deploy/compose.yaml: what it says, and its processes as in containers."""

import importlib
import os
import re
import shutil
import smtplib
import subprocess
import sys
from collections import ChainMap
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import pytest

from sealdesk.cli.doctor import public_url
from sealdesk.client import Desk
from sealdesk.server import draining
from tests.cli.terminal import Terminal
from tests.deploy import files
from tests.deploy.files import DEPLOY, Certificate, Ports
from tests.servers import Haproxy, Postgres, Redis, free_port
from tests.servers.binaries import find_postgres
from tests.servers.process import Process
from tests.support.for_each import for_each
from tests.support.service import wait_until

PROGRAM = Path(sys.executable).with_name("sealdesk")
# Comes along with schemathesis, and has no types.
COMPOSE = importlib.import_module("yaml").safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
NODES = ("one", "two")
OURS = (*NODES, "worker", "mail", "upgrade", "migrate", "backup")
READY = {"worker": '"working"', "mail": '"receiving"'}
BACKUP = SERVICES["backup"]["command"]
# Only root can make file systems look otherwise.
CAN_CONTAIN = os.geteuid() == 0 and shutil.which("unshare") is not None
CONTAINED = Path(__file__).with_name("contained.sh")
VOLUME = "/var/lib/sealdesk"
PORT = 8000  # of `sealdesk serve`, unless told another


def address(service: str) -> str:
    return str(SERVICES[service]["networks"]["desk"]["ipv4_address"])


def test_haproxy_names_the_nodes_and_they_trust_it() -> None:
    config = (DEPLOY / "haproxy" / "haproxy.cfg").read_text()
    servers = re.findall(r"^    server \w+ (\S+)$", config, re.M)
    assert servers == [f"{address(node)}:{PORT}" for node in NODES]
    trusted = {SERVICES[node]["environment"]["SEALDESK_TRUSTED_PROXIES"] for node in NODES}
    assert trusted == {address("haproxy")}


def test_nodes_are_configured_with_their_count() -> None:
    expected = {SERVICES[node]["environment"]["SEALDESK_EXPECTED_PROCESSES"] for node in NODES}
    assert expected == {str(len(NODES))}


@for_each("name", OURS)
def test_containers_are_read_only_and_have_time_to_drain(name: str) -> None:
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert int(service["stop_grace_period"].removesuffix("s")) > draining.DRAIN_S + 1


def test_only_migrations_and_the_backup_have_the_password_of_the_owner() -> None:
    holders = [name for name in OURS if "secrets/owner.env" in SERVICES[name]["env_file"]]
    assert holders == ["upgrade", "migrate", "backup"]


def test_what_several_services_need_is_on_one_volume() -> None:
    assert all(f"data:{VOLUME}" in SERVICES[name]["volumes"] for name in OURS)
    assert {"data", "backups"} <= COMPOSE["volumes"].keys()


def test_the_image_has_the_programs_of_the_database_that_is_backed_up() -> None:
    (version,) = re.findall(r"^postgres:(\d+)-", SERVICES["postgres"]["image"])
    assert f"postgresql-client-{version}" in (DEPLOY / "Dockerfile").read_text()


def test_the_image_has_a_pinned_base_and_no_root() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    assert set(re.findall(r"^FROM (\S+)", text, re.M)) == {"python:3.11-slim-bookworm"}
    assert re.findall(r"^(?:USER|STOPSIGNAL) (.*)$", text, re.M) == ["10001:10001", "SIGTERM"]
    assert "/healthz" in text[text.index("HEALTHCHECK") :]


class Composed(NamedTuple):
    """The running composition. operator: a shell with the settings of a node. ports: of nodes.

    mail_port: of the mail server in front.
    """

    url: str
    operator: Terminal
    nodes: dict[str, Process]
    ports: dict[str, int]
    mail_port: int
    made: Path


@pytest.fixture(scope="module")
def composed(directory: Path, certificate: Certificate) -> Iterator[Composed]:
    """Every service as a process: its command and its settings, with loopback for addresses."""
    with ExitStack() as stack:
        database = Postgres.start(directory / "composed-postgres", fsync=False)
        stack.callback(database.stop, "immediate")
        redis = Redis.start(directory / "composed-redis")
        stack.callback(redis.kill)
        made = directory / "secrets"
        (directory / "data").mkdir(mode=0o700)
        where = (f"127.0.0.1:{database.access.port}", redis.url)
        subprocess.run([DEPLOY / "secrets.sh", made, *where], check=True, capture_output=True)
        make_owner(database, made)
        subprocess.run(
            [PROGRAM, *SERVICES["migrate"]["command"]], env=env("migrate", made), check=True
        )
        ports = {node: free_port() for node in NODES}
        nodes = {node: started(node, directory, made, port=ports[node]) for node in NODES}
        mail_port = free_port()
        others = [
            started("worker", directory, made),
            started("mail", directory, made, SEALDESK_MAIL_LISTEN=f"127.0.0.1:{mail_port}"),
        ]
        for process in others:
            stack.callback(process.kill)
        stack.callback(lambda: end(nodes.values()))
        tls = free_port()
        front = Ports(free_port(), tls, (ports["one"], ports["two"]))
        balancer = Haproxy.start(directory / "composed", files.haproxy(certificate, front, {}))
        stack.callback(balancer.stop)
        operator = Terminal(directory)
        operator.env = {**operator.env, **env("one", made)}
        yield Composed(f"https://localhost:{tls}", operator, nodes, ports, mail_port, made)


def end(processes: Iterable[Process]) -> None:
    for process in processes:
        process.kill()


def make_owner(database: Postgres, made: Path) -> None:
    """As the image of PostgreSQL does it."""
    superuser = {
        "PATH": f"{find_postgres()}{os.pathsep}{os.environ['PATH']}",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(database.access.port),
        "PGUSER": "postgres",
        "PGPASSWORD": database.access.password,
    }
    given = {**superuser, **settings(made / "postgres.env")}
    subprocess.run([DEPLOY / "postgres" / "owner.sh"], env=given, check=True)


def settings(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


def env(name: str, made: Path) -> dict[str, str]:
    """What the container would see."""
    service = SERVICES[name]
    given = [settings(made / Path(file).name) for file in service["env_file"]]
    # The volume that all of them mount.
    further = {**service.get("environment", {}), "SEALDESK_DATA_DIR": str(made.parent / "data")}
    if name in NODES:
        further["SEALDESK_TRUSTED_PROXIES"] = "127.0.0.1"
    return {"PATH": os.environ["PATH"], **dict(ChainMap(*reversed(given))), **further}


def started(name: str, directory: Path, made: Path, *, port: int = 0, **more: str) -> Process:
    """The service as a process, ready. more: variables."""
    command = [str(PROGRAM), *map(str, SERVICES[name]["command"])]
    if port:
        command = [word.replace("0.0.0.0", "127.0.0.1") for word in command]
        command += ["--port", str(port)]
    given = env(name, made) | more
    if CAN_CONTAIN:
        around = ["unshare", "--mount", CONTAINED, given["SEALDESK_DATA_DIR"], DEPLOY.parent]
        command = [*map(str, around), *command]
        given["SEALDESK_DATA_DIR"] = VOLUME
    log = directory / f"{name}.log"
    process = Process(name, command, log, env=given)
    word = READY.get(name, '"serving"')
    process.wait_until(lambda: word in log.read_text())
    return process


@pytest.mark.prove
def test_the_composed_processes_serve_a_tenant_while_a_node_ends(
    composed: Composed,
    certificate: Certificate,
    http: httpx.Client,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant_id = composed.operator.tenant("ada@acme.test")
    key = composed.operator.json("keys", "create", "--tenant", tenant_id, "--name", "Shop")
    monkeypatch.setenv("SEALDESK_API_KEY", key["api_key"])
    monkeypatch.setenv("SEALDESK_API_SECRET", key["api_secret"])
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.certificate))
    found = list(public_url.check(composed.url))
    assert [finding for finding in found if finding.state != "good"] == []
    composed.nodes["one"].stop()
    assert [http.get(f"{composed.url}/readyz").status_code for _ in range(20)] == [200] * 20
    composed.nodes["two"].kill()
    wait_until(lambda: answers_unavailable(http, f"{composed.url}/readyz"))
    for node, port in composed.ports.items():  # other tests come after this one
        composed.nodes[node] = started(node, directory, composed.made, port=port)


def test_an_upload_to_one_node_is_served_by_the_other_and_backed_up(
    composed: Composed, directory: Path
) -> None:
    tenant_id = composed.operator.tenant("bo@acme.test")
    made = composed.operator.json("keys", "create", "--tenant", tenant_id, "--name", "Files")
    one, two = (
        Desk(made["api_key"], made["api_secret"], f"http://127.0.0.1:{composed.ports[node]}")
        for node in NODES
    )
    with one, two:
        uploaded = one.attachments.upload("a.txt", b"a file")
        assert two.attachments.download(uploaded.id) == b"a file"
    token = env("two", composed.made)["SEALDESK_METRICS_TOKEN"]

    def issues() -> list[str]:
        state = httpx.get(
            f"http://127.0.0.1:{composed.ports['two']}/healthz/installation",
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
        return [issue["code"] for issue in state.json()["data"]["issues"]]

    wait_until(lambda: not issues())  # Redis may have answered late at first
    command = [str(directory / "backups") if each == "/backups" else each for each in BACKUP]
    (directory / "backups").mkdir()
    given = env("backup", composed.made)
    assert given["TMPDIR"] == "/backups"  # /tmp is small: a restore would fill it
    given["TMPDIR"] = str(directory / "backups")
    done = subprocess.run(
        [PROGRAM, *command], check=False, env=given, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (backup,) = (directory / "backups").iterdir()
    drill = subprocess.run(
        [PROGRAM, "restore", "--drill", backup], check=False, env=given, capture_output=True
    )
    assert drill.returncode == 0, drill.stderr
    # And that of the message, if it has arrived before.
    assert re.search(r"\b[12] attached files", done.stdout), done.stdout


@pytest.mark.prove
def test_mail_is_a_ticket_on_each_node(composed: Composed) -> None:
    operator = composed.operator
    tenant_id = operator.tenant("cy@acme.test")
    address = "help@acme.test"
    operator.out(
        *("mailboxes", "add", address, "--tenant", tenant_id),
        *("--receives", "smtp", "--smtp-host", "smtp.acme.test"),
        stdin="password\n",
    )
    made = operator.json("keys", "create", "--tenant", tenant_id, "--name", "Mail")
    with smtplib.SMTP("127.0.0.1", composed.mail_port, timeout=120) as client:
        message = f"From: dora@example.test\nTo: {address}\nSubject: A kiln\n\nIt is cold.\n"
        client.sendmail("dora@example.test", [address], message)
    for port in composed.ports.values():
        with Desk(made["api_key"], made["api_secret"], f"http://127.0.0.1:{port}") as desk:
            assert [each.subject for each in desk.tickets.list()] == ["A kiln"]


@pytest.mark.skipif(not CAN_CONTAIN, reason="only root can make a file system read-only")
def test_a_container_has_its_volume_and_writes_nowhere_else(directory: Path) -> None:
    (volume := directory / "volume").mkdir()
    tried = f"touch {VOLUME}/a /tmp/a && ! touch {DEPLOY}/a /a && grep CapEff /proc/self/status"
    done = subprocess.run(
        ["unshare", "--mount", CONTAINED, volume, DEPLOY.parent, "sh", "-c", tried],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["CapEff:", "0" * 16]
    assert [path.name for path in volume.iterdir()] == ["a"]


def answers_unavailable(http: httpx.Client, url: str) -> bool:
    """Whether the proxy knows that no node is left; a request before that may be cut off."""
    try:
        return http.get(url).status_code == 503
    except httpx.TransportError:
        return False


def test_no_secret_is_in_the_logs(composed: Composed, directory: Path) -> None:
    values = [value for file in composed.made.iterdir() for value in settings(file).values()]
    # Of a URL its password, anything else as it is.
    secrets = {urlsplit(value).password or value for value in values if "redis:" not in value}
    logs = "".join(file.read_text() for file in directory.glob("*.log"))
    assert len(secrets) == 7
    assert [secret for secret in secrets if secret in logs] == []
