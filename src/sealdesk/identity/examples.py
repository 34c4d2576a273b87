"""Example values of users and log-ins for the API documentation."""

from sealdesk.identity.rules import TOKEN_LIFE_S
from sealdesk.identity.types import AgentResponse, LoggedIn, UserResponse

USER = UserResponse(
    id="0199a111-2b3c-7d4e-8f50-617283940a1b",
    email="ada@acme.test",
    name="Ada Lindqvist",
    role="tenant_admin",
    tenant_id="0199a110-0a1b-7c2d-8e3f-405162738495",
)
AGENT = AgentResponse(USER.id, USER.name)
LOGGED_IN = LoggedIn("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…", "Bearer", TOKEN_LIFE_S, USER)
LOGIN = {"email": USER.email, "password": "a long passphrase of yours"}
PASSWORD_CHANGE = {"current": "a long passphrase of yours", "new": "another long passphrase"}
PASSWORD_RESET = {
    "token": "Zk3vTqU0aV8mYb1nCw5xLr7eHs2dJf4gPo6iKu9tRcA",
    "new": PASSWORD_CHANGE["new"],
}
