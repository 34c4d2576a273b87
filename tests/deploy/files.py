"""The shipped files with what an operator adapts, adapted to a test."""

import datetime
import os
import re
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DEPLOY = Path(__file__).parents[2] / "deploy"
_IPV6_ADDRESSES = Path("/proc/net/if_inet6")
HAS_IPV6 = _IPV6_ADDRESSES.exists() and f"{1:032x} " in _IPV6_ADDRESSES.read_text()


class Ports(NamedTuple):
    """Of loopback: where the proxy listens without and with TLS, and where its two servers do."""

    plain: int
    tls: int
    servers: tuple[int, int]


class Certificate:
    """A certificate for localhost that trusts itself: its file, its key's, and both in one."""

    def __init__(self, directory: Path) -> None:
        self.certificate = directory / "certificate.pem"
        self.key = directory / "key.pem"
        self.both = directory / "both.pem"
        key = ec.generate_private_key(ec.SECP256R1())
        self.certificate.write_bytes(_certificate(key))
        self.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        self.both.write_bytes(self.certificate.read_bytes() + self.key.read_bytes())


def haproxy(certificate: Certificate, ports: Ports, more: dict[str, str]) -> str:
    """deploy/haproxy/haproxy.cfg on loopback, before two servers at these ports.

    more: further texts of the file, each with what takes its place.
    """
    one, two = ports.servers
    changes = {
        "bind :80\n": f"bind 127.0.0.1:{ports.plain}\n",
        "bind :::80 ": f"bind [::1]:{ports.plain} ",
        "bind :443 ssl crt /etc/haproxy/desk.example.com.pem": (
            f"bind 127.0.0.1:{ports.tls} ssl crt {certificate.both}"
        ),
        "bind :::443 v6only ssl crt /etc/haproxy/desk.example.com.pem": (
            f"bind [::1]:{ports.tls} v6only ssl crt {certificate.both}"
        ),
        "10.83.0.11:8000": f"127.0.0.1:{one}",
        "10.83.0.12:8000": f"127.0.0.1:{two}",
        **more,
    }
    for file in (DEPLOY / "haproxy" / "errors").iterdir():
        changes[f"/etc/haproxy/errors/sealdesk/{file.name}"] = str(file)
    if os.geteuid() != 0:
        changes["    user haproxy\n    group haproxy\n"] = ""  # only root can become another user
    return _changed("haproxy/haproxy.cfg", changes)


def nginx(certificate: Certificate, ports: Ports, more: dict[str, str]) -> str:
    """deploy/nginx/sealdesk.conf on loopback, before two servers at these ports."""
    one, two = ports.servers
    changes = {
        "listen 80;": f"listen 127.0.0.1:{ports.plain};",
        "listen [::]:80;": f"listen [::1]:{ports.plain};",
        "listen 443 ssl": f"listen 127.0.0.1:{ports.tls} ssl",
        "listen [::]:443 ssl": f"listen [::1]:{ports.tls} ssl",
        "/etc/nginx/desk.example.com.pem": str(certificate.certificate),
        "/etc/nginx/desk.example.com.key": str(certificate.key),
        "127.0.0.1:8001": f"127.0.0.1:{one}",
        "127.0.0.1:8002": f"127.0.0.1:{two}",
        **more,
    }
    return _changed("nginx/sealdesk.conf", changes)


def _changed(name: str, changes: dict[str, str]) -> str:
    text = (DEPLOY / name).read_text()
    for before, after in changes.items():
        assert text.count(before) == 1, f"{name} does not hold once {before!r}"
        text = text.replace(before, after)
    return text if HAS_IPV6 else re.sub(r"^.*\[::1\].*\n", "", text, flags=re.M)


def _certificate(key: ec.EllipticCurvePrivateKey) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)
