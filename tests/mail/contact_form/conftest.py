"""A service that may send to loopback, and a desk whose form is on."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.mail.contact_form.support import FormDesk
from tests.support.databases import Begin
from tests.support.mail_server import MailServer, mail_server
from tests.support.service import Service, Tenant


@pytest.fixture(scope="session")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    # Behind a proxy, so that each test has a client address of its own.
    started: AbstractContextManager[Service] = begin(
        Path(tmp_path_factory.mktemp("contact_form")),
        SEALDESK_MAIL_ALLOWED_CIDRS="127.0.0.0/8",
        SEALDESK_TRUSTED_PROXIES="127.0.0.0/8",
    )
    with started as service:
        yield service


@pytest.fixture(autouse=True)
def nothing_counted(service: Service) -> None:
    """What other tests have submitted would count for an address as well."""
    service.write(lambda tx: tx.execute("DELETE FROM login_failures", {}))


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture
def desk(tenant: Tenant, server: MailServer) -> FormDesk:
    return FormDesk(tenant, server)


@pytest.fixture
def service_tenant(desk: FormDesk) -> Callable[[], FormDesk]:
    """Makes further desks of the same service."""
    return lambda: FormDesk(desk.service.tenant(), desk.server)
