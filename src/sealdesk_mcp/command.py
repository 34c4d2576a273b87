"""The command `sealdesk mcp`."""

import asyncio
from importlib.util import find_spec
from typing import Annotated

import typer

from sealdesk.cli.integration import CREDENTIALS
from sealdesk.client import AsyncDesk
from sealdesk.errors import ConfigurationError

EXAMPLES = f"""\b
In the settings of a program that uses language models:
  "mcpServers": {{"sealdesk": {{
      "command": "sealdesk", "args": ["mcp"],
      "env": {{"SEALDESK_API_URL": "https://desk.example.com",
              "SEALDESK_API_KEY": "tk_live_…", "SEALDESK_API_SECRET": "…"}}}}}}

{CREDENTIALS}
Create a key of its own for it, with only the permissions that it needs."""


def mcp(
    allow_writes: Annotated[
        bool,
        typer.Option(
            "--allow-writes", help="Also offer tools that answer, change and open tickets."
        ),
    ] = False,
) -> None:
    """Serve tickets to language models by the Model Context Protocol.

    Speaks on stdin and stdout, for a program that starts it. Reads only, unless told otherwise,
    and never does more than the permissions of its API key allow.
    """
    if find_spec("mcp") is None:
        raise ConfigurationError(
            "`sealdesk mcp` needs one more package: install it with"
            " pipx install 'sealdesk[mcp]', or pip install 'sealdesk[mcp]'"
        )
    asyncio.run(_serve(may_write=allow_writes))


async def _serve(*, may_write: bool) -> None:
    # Imports pydantic and starlette: 0.6 s that no other command needs.
    from sealdesk_mcp.server import make_server

    async with AsyncDesk.from_environment() as desk:
        await make_server(desk, may_write=may_write).run_stdio_async()
