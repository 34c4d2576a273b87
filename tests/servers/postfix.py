"""A Postfix for tests: submission with STARTTLS, and delivery by LMTP."""

import os
import shutil
import smtplib
import ssl
from pathlib import Path

from tests.servers.binaries import NotHere, find
from tests.servers.ports import HOST, free_port
from tests.servers.process import Process, accepts, environment

# What it hands over, what it takes, and what it takes before it knows that nobody is there.
DESK_DOMAIN, OTHER_DOMAIN, UNKNOWN_DOMAIN = "desk.example", "customer.example", "nobody.example"
_DAEMONS = ("/usr/lib/postfix/sbin", "/usr/libexec/postfix")
_MAIN = """
compatibility_level = 3.6
queue_directory = {directory}/queue
data_directory = {directory}/data
command_directory = {commands}
daemon_directory = {daemons}
mail_owner = postfix
setgid_group = postdrop
myhostname = mx.example.test
mydestination =
inet_interfaces = {host}
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relay_domains = {desk}
recipient_delimiter = +
transport_maps = inline:{{ {{{desk} = lmtp:inet:{host}:{lmtp_port}}}, {{{other} = discard:}},
    {{{unknown} = lmtp:inet:{host}:{lmtp_port}}} }}
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_tls_security_level = encrypt
smtpd_tls_cert_file = {directory}/certificate.pem
smtpd_tls_key_file = {directory}/certificate.pem
maillog_file = /dev/stdout
bounce_queue_lifetime = 1d
lmtp_connect_timeout = 5
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
"""
_MASTER = """
{port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 1 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
lmtp unix - - n - - lmtp
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
proxymap unix - - n - - proxymap
postlog unix-dgram n - n - 1 postlogd
"""


class Postfix:
    """A running Postfix; its log is `log` in the directory. lmtp_port: where mail is handed to."""

    def __init__(self, directory: Path, port: int) -> None:
        self.directory = directory
        self.port = port
        self._process: Process | None = None

    @classmethod
    def start(cls, directory: Path, certificate: bytes, lmtp_port: int) -> "Postfix":
        """Start one in a directory that is empty. certificate: with its key. Raises NotHere.

        Its processes run as users of its own, which root alone can do.
        """
        program = find("postfix")
        if os.geteuid() != 0:
            raise NotHere("postfix", "Postfix starts as root alone")
        daemons = next(each for each in _DAEMONS if Path(each).is_dir())
        server = cls(directory, free_port())
        for name in ("queue", "data"):
            (directory / name).mkdir(mode=0o755)
        shutil.chown(directory / "data", "postfix")
        (directory / "certificate.pem").write_bytes(certificate)
        (directory / "certificate.pem").chmod(0o600)
        values = {
            "directory": directory,
            "commands": program.parent,
            "daemons": daemons,
            "host": HOST,
            "port": server.port,
            "lmtp_port": lmtp_port,
            "desk": DESK_DOMAIN,
            "other": OTHER_DOMAIN,
            "unknown": UNKNOWN_DOMAIN,
        }
        (directory / "main.cf").write_text(_MAIN.format(**values))
        (directory / "master.cf").write_text(_MASTER.format(**values))
        server._process = Process(
            "Postfix",
            [program, "-c", directory, "start-fg"],
            directory / "log",
            env=environment(MAIL_CONFIG=str(directory)),
        )
        server._process.wait_until(lambda: accepts(server.port))
        return server

    def stop(self) -> None:
        """Ask it to end, and wait."""
        if self._process is not None:
            self._process.stop()

    def submit(self, raw: bytes, to: str, *, sender: str) -> None:
        """Send a message as another mail server does."""
        with smtplib.SMTP(HOST, self.port, timeout=60) as client:
            client.starttls(context=ssl._create_unverified_context())  # noqa: S323 # a test's own
            client.sendmail(sender, [to], raw)
