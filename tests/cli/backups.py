"""Backups of a service under test, and services that were restored from them."""

import base64
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sealdesk.cli.installation import read_epoch
from sealdesk.settings import Settings, from_env
from tests.cli.terminal import Terminal
from tests.servers import run_postgres
from tests.support.clock import SettableClock
from tests.support.service import Service


def terminal_of(service: Service) -> Terminal:
    """A shell with the settings of a service."""
    return Terminal(service.settings.data_dir, **_env_of(service.settings))


def _env_of(settings: Settings) -> dict[str, str]:
    urls = {
        "SEALDESK_DATABASE_URL": settings.database_url,
        "SEALDESK_OWNER_DATABASE_URL": settings.owner_database_url,
        "SEALDESK_WORKER_DATABASE_URL": settings.worker_database_url,
    }
    return {
        **{name: url for name, url in urls.items() if url},
        "SEALDESK_MASTER_KEY": base64.b64encode(settings.master_keys[0]).decode(),
        "SEALDESK_JWT_SECRET": base64.b64encode(settings.jwt_secret).decode(),
    }


@contextmanager
def empty_target(service: Service, directory: Path) -> Iterator[Terminal]:
    """A shell with the keys of a service and an empty database of the same kind."""
    env = _env_of(service.settings)
    if not service.settings.database_url:
        yield Terminal(directory, **env)
        return
    access, name = run_postgres(), f"restore_{secrets.token_hex(6)}"
    access.create_database(name)
    try:
        urls = {n: f"{u.rpartition('/')[0]}/{name}" for n, u in env.items() if n.endswith("_URL")}
        yield Terminal(directory, **{**env, **urls})
    finally:
        access.drop_database(name)


@contextmanager
def serving_restored(terminal: Terminal) -> Iterator[Service]:
    """A service on the database of a shell, in the epoch of that database."""
    env = {name: value for name, value in terminal.env.items() if name.startswith("SEALDESK_")}
    settings = from_env(env)
    service = Service(settings, SettableClock(), epoch=read_epoch(settings))
    service.start()
    try:
        yield service
    finally:
        service.drop()
