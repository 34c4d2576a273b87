"""A network namespace with a hostile name server, receivers and a packet counter.

`posted` runs `python -m tests.http_client.network_namespace COUNT` as root of a new namespace,
where every address of the forbidden ranges is local and accepts connections, so that a
forbidden request would arrive. A packet socket counts connections independently of the service.
"""

import contextlib
import ipaddress
import json
import os
import shutil
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.servers.run import not_run

PUBLIC = ("8.8.4.4", "2620:fe::fe")
_HIDDEN = (
    "10.0.0.7", "172.16.0.1", "192.168.1.1", "169.254.169.254", "127.0.0.1", "100.100.100.200",
    "0.0.0.0", "198.18.0.1",
)  # fmt: skip
_HIDDEN_6 = (
    "::1",
    "fd00:ec2::254",
    "64:ff9b::a00:7",
    "2002:a00:7::1",
    "::ffff:10.0.0.7",
    "fc00::1",
)
_LOCAL = (
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
    "100.64.0.0/10", "198.18.0.0/15",
)  # fmt: skip
_LOCAL_6 = ("fc00::/7", "64:ff9b::/96", "2002::/16", "fe80::/10")
_ETHERNET = {0x0800: 4, 0x86DD: 6}
_A, _CNAME, _AAAA = 1, 5, 28
_NAME, _INNER = b"\xc0\x0c", b"\x04host\x08internal\x00"  # what was asked for; another name
_OUTGOING = 4  # packet(7): on loopback each packet is seen twice
_TCP, _SYN, _ACK = 6, 0x02, 0x10
_ROOT = Path(__file__).parents[2]


def posted(count: int) -> dict[str, Any]:
    """Post URLs inside such a namespace. Keys: syns (per address), sent, refused."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        not_run("no unshare or ip on this machine")
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    with tempfile.TemporaryDirectory() as directory:
        (resolv := Path(directory) / "resolv").write_text("nameserver 127.0.0.1\n")
        (switch := Path(directory) / "switch").write_text("hosts: files dns\n")
        script = (
            f"mount --bind {resolv} /etc/resolv.conf && mount --bind {switch} /etc/nsswitch.conf"
            ' && exec "$0" -m tests.http_client.network_namespace "$1"'
        )
        command = ["unshare", "--net", "--mount", *user, "sh", "-c", script, sys.executable]
        done = subprocess.run(
            [*command, str(count)], cwd=_ROOT, capture_output=True, text=True, check=False,
            timeout=300,
        )  # fmt: skip
    if "unshare failed" in done.stderr:
        not_run("this user may make no network namespace")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main(count: str) -> None:
    _lay_out()
    syns: Counter[str] = Counter()
    watcher = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    with contextlib.suppress(PermissionError):  # of who is root in the namespace alone
        watcher.setsockopt(socket.SOL_SOCKET, 33, 32 * 2**20)  # SO_RCVBUFFORCE
    _begin(lambda: _count(watcher, syns))
    names = _NameServer(("127.0.0.1", 53), _Question)
    _begin(names.serve_forever)
    for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        _begin(_receiver(family, host).serve_forever)
    done = subprocess.run(
        [sys.executable, "-m", "tests.http_client.post_urls", count],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lost = struct.unpack("II", watcher.getsockopt(263, 6, 8))[1]  # SOL_PACKET, PACKET_STATISTICS
    assert lost == 0, f"{lost} packets were not counted"
    print(json.dumps({"syns": syns, **json.loads(done.stdout)}))  # noqa: T201


def _lay_out() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in PUBLIC:
        subprocess.run(["ip", "address", "add", address, "dev", "lo"], check=True)
    for network in _LOCAL:
        subprocess.run(["ip", "route", "add", "local", network, "dev", "lo"], check=True)
    for network in _LOCAL_6:
        subprocess.run(["ip", "-6", "route", "add", "local", network, "dev", "lo"], check=True)


def _begin(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()


def _count(watcher: socket.socket, syns: Counter[str]) -> None:
    while True:
        packet, (_, protocol, kind, *_) = watcher.recvfrom(256)
        if kind != _OUTGOING or protocol not in _ETHERNET:
            continue
        packet = packet[14:]
        if _ETHERNET[protocol] == 4:
            is_tcp, to, rest = packet[9] == _TCP, packet[16:20], packet[(packet[0] & 15) * 4 :]
        else:
            is_tcp, to, rest = packet[6] == _TCP, packet[24:40], packet[40:]
        if is_tcp and rest[13] & (_SYN | _ACK) == _SYN:
            syns[str(ipaddress.ip_address(to))] += 1


class _NameServer(socketserver.UDPServer):
    """Answers by the first label of a name, KIND-NUMBER: each question gets another answer."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.asked: Counter[tuple[str, int]] = Counter()


class _Question(socketserver.BaseRequestHandler):
    server: _NameServer

    def handle(self) -> None:
        question, reply_to = self.request
        labels, place = [], 12
        while question[place]:
            labels.append(question[place + 1 : place + 1 + question[place]].decode())
            place += 1 + question[place]
        kind = struct.unpack("!H", question[place + 1 : place + 3])[0]
        records = self._records(labels[0], kind)
        head = question[:2] + struct.pack("!HHHHH", 0x8580, 1, len(records), 0, 0)
        answers = b"".join(
            owner + struct.pack("!HHIH", of, 1, 0, len(data)) + data for owner, of, data in records
        )
        reply_to.sendto(head + question[12 : place + 5] + answers, self.client_address)

    def _records(self, label: str, kind: int) -> list[tuple[bytes, int, bytes]]:
        """Owner, type and data of each; their time to live is 0."""
        if kind not in (_A, _AAAA):
            return []
        turn = self.server.asked[label, kind]
        self.server.asked[label, kind] += 1
        what, _, number = label.partition("-")
        public, hidden = (PUBLIC[0], _HIDDEN) if kind == _A else (PUBLIC[1], _HIDDEN_6)
        good = (_NAME, kind, _packed(public))
        bad = (_NAME, kind, _packed(hidden[(int(number) + turn) % len(hidden)]))
        is_odd = turn % 2 == 1
        if what == "flop":  # begins with the bad one
            return [good if is_odd else bad]
        if what == "mixed":
            return [bad, good] if is_odd else [good, bad]
        if what == "cname" and is_odd:
            return [(_NAME, _CNAME, _INNER), (_INNER, *bad[1:])]
        if (what, kind) in (("six", _A), ("flip", _AAAA)):
            return []
        return [bad if is_odd else good]


def _packed(address: str) -> bytes:
    return ipaddress.ip_address(address).packed


def _receiver(family: int, host: str) -> ThreadingHTTPServer:
    class Server(ThreadingHTTPServer):
        address_family = family
        request_queue_size = 256

        def server_bind(self) -> None:
            if family == socket.AF_INET6:
                self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            socketserver.TCPServer.server_bind(self)

    class Redirecting(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            is_last = self.path == "/last"
            self.send_response(302 if self.path == "/moved" else 200)
            self.send_header("location", "http://10.0.0.7/inside")
            self.send_header("content-length", "0")
            self.send_header("connection", "close" if is_last else "keep-alive")
            self.end_headers()
            self.close_connection = is_last

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):
                super().handle()

    return Server((host, 80), Redirecting)


if __name__ == "__main__":
    main(sys.argv[1])
