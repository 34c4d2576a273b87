"""A Dovecot for tests: IMAP with TLS and STARTTLS, one password for every user name."""

import grp
import os
import pwd
import shutil
import time
from pathlib import Path

from tests.servers.binaries import find
from tests.servers.ports import HOST, free_port
from tests.servers.process import Process, accepts, give_away, server_owned, server_user

PASSWORD = "correct-horse-battery"

# Accepts access tokens besides: a server says whose one is (RFC 7662).
_OAUTH = """
auth_mechanisms = plain xoauth2
passdb {{
  driver = oauth2
  mechanisms = xoauth2
  args = {file}
}}
"""
_INTROSPECTION = """
introspection_mode = post
introspection_url = {url}
username_attribute = username
active_attribute = active
active_value = true
"""

# Everything runs as one user, who needs no rights.
_CONFIG = """
base_dir = {directory}/run
state_dir = {directory}/run
log_path = /dev/stderr
protocols = imap
listen = {host}
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 0
first_valid_gid = 0
shutdown_clients = yes
mail_max_userip_connections = 200
mail_location = maildir:~/Maildir
mailbox_list_index = no
maildir_very_dirty_syncs = no
disable_plaintext_auth = no
ssl = yes
ssl_cert = <{certificate}
ssl_key = <{certificate}
auth_mechanisms = plain
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={directory}/homes/%u
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
    ssl = yes
  }}
}}
auth_failure_delay = 0
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
namespace inbox {{
  inbox = yes
}}
"""


class Dovecot:
    """A running Dovecot; its log is `log` in the directory. Each user name has an account."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port, self.tls_port = free_port(), free_port()
        self._count = 0
        self._process: Process | None = None

    @classmethod
    def start(cls, directory: Path, certificate: bytes, introspection_url: str = "") -> "Dovecot":
        """Start one in a directory that is empty or not there yet. certificate: with its key.

        introspection_url: of an authorisation server, whose access tokens it accepts.
        """
        server_owned(directory)
        server = cls(directory)
        for name in ("run", "homes"):
            server_owned(directory / name)
        server._write("certificate.pem", certificate)
        config = server._config()
        if introspection_url:
            file = directory / "oauth"
            server._write(file.name, _INTROSPECTION.format(url=introspection_url).encode())
            config += _OAUTH.format(file=file)
        server._write("config", config.encode())
        server.start_again()
        return server

    def start_again(self) -> None:
        """Start the stopped or killed server on its ports; waits until they accept."""
        # Locks of killed sessions, which it would wait for: for up to two minutes.
        for lock in (self.directory / "homes").glob("*/Maildir/**/dovecot*.lock"):
            lock.unlink(missing_ok=True)
        self._process = Process(
            "Dovecot",
            [find("dovecot"), "-F", "-c", self.directory / "config"],
            self.directory / "log",
            as_server_user=True,
        )
        self._process.wait_until(lambda: accepts(self.port) and accepts(self.tls_port))

    def stop(self) -> None:
        """Ask it to end, and wait."""
        if self._process is not None:
            self._process.stop()

    def kill(self) -> None:
        """SIGKILL for it and its sessions: connections break without notice."""
        if self._process is not None:
            self._process.kill()

    def put(self, user: str, raw: bytes, folder: str = "INBOX") -> Path:
        """Let a message arrive in a folder of a user, also while the server is away."""
        place = self.folder(user, folder)
        self._count += 1
        name = f"{time.time_ns()}.{os.getpid()}_{self._count}.test"
        arriving = place / "tmp" / name
        arriving.write_bytes(raw)
        give_away(arriving)
        return arriving.rename(place / "new" / name)

    def folder(self, user: str, folder: str = "INBOX") -> Path:
        """The Maildir of a folder, which is made unless it is there."""
        home = server_owned(self.directory / "homes" / user)
        place = server_owned(home / "Maildir")
        if folder != "INBOX":
            place = server_owned(place / f".{folder}")
        for name in ("tmp", "new", "cur"):
            server_owned(place / name)
        return place

    def remove(self, user: str) -> None:
        """Delete the folders of a user, in which sessions that end may still write."""
        place = self.folder(user)
        while place.exists():
            shutil.rmtree(place, ignore_errors=True)

    def renumber(self, user: str, folder: str = "INBOX", uid_validity: int = 1) -> None:
        """Give the messages of a folder new numbers, from 1 on."""
        place = self.folder(user, folder)
        for file in place.glob("dovecot*"):
            file.unlink()
        numbers = place / "dovecot-uidlist"
        numbers.write_text(f"3 V{uid_validity} N1\n")
        give_away(numbers)

    def _write(self, name: str, content: bytes) -> None:
        file = self.directory / name
        file.write_bytes(content)
        give_away(file)
        file.chmod(0o600)

    def _config(self) -> str:
        account = pwd.getpwnam(server_user() or pwd.getpwuid(os.geteuid()).pw_name)
        return _CONFIG.format(
            directory=self.directory,
            certificate=self.directory / "certificate.pem",
            host=HOST,
            port=self.port,
            tls_port=self.tls_port,
            user=account.pw_name,
            group=grp.getgrgid(account.pw_gid).gr_name,
            uid=account.pw_uid,
            gid=account.pw_gid,
            password=PASSWORD,
        )
