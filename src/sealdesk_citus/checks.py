"""The checks of `sealdesk nodes doctor`."""

from typing import Any
from urllib.parse import unquote, urlsplit

from sealdesk.cli.doctor.finding import Finding
from sealdesk.settings import Settings
from sealdesk_citus import nodes

# Each transaction that changes two nodes is prepared on both.
_MIN_PREPARED = 100


async def check(owner_url: str, settings: Settings) -> list[Finding]:
    """Check each node, and its connections to the others. Raises Unusable."""
    urls = [url for url in (settings.database_url, settings.worker_database_url) if url]
    roles = tuple(unquote(urlsplit(url).username or "") for url in urls)
    async with nodes.opened(owner_url) as connection:
        states = await nodes.read_states(connection, roles)
    findings = [check_node(node, state, roles) for node, state in states]
    findings.append(check_versions([state for _, state in states if isinstance(state, dict)]))
    for url in (owner_url, *urls):
        findings.append(await _check_connections(url))
    return findings


def check_node(node: str, state: dict[str, Any] | str, roles: tuple[str, ...]) -> Finding:
    """Check a node by what it says of itself, or why it does not."""
    if isinstance(state, str):
        return Finding("bad", node, f"does not respond ({' '.join(state.split())}); is it running?")
    faults = []
    if state["wal_level"] != "logical":
        faults.append(f"wal_level = {state['wal_level']}: without logical no shard can be moved")
    if state["max_prepared_transactions"] < _MIN_PREPARED:
        count = state["max_prepared_transactions"]
        faults.append(f"max_prepared_transactions = {count}; set it to max_connections")
    if state["output_plugins"] is not None and "citus" not in state["output_plugins"]:
        faults.append("output_plugin_libraries does not name citus: no tenant can be isolated")
    missing = [role for role in roles if role not in state["roles"]]
    if missing:
        faults.append(
            f"{' and '.join(missing)} does not exist there, or bypasses row level security;"
            " run `sealdesk migrate`"
        )
    if state["prepared"]:
        faults.append(f"{state['prepared']} prepared transactions wait for more than 5 minutes")
    if faults:
        return Finding("bad", node, "; ".join(faults))
    version = f"PostgreSQL {state['version']}, Citus {state['citus']}"
    return Finding("good", node, f"{version}, {state['max_connections']} connections allowed")


def check_versions(states: list[dict[str, Any]]) -> Finding:
    """Check whether all nodes run the same version."""
    different = sorted({f"{state['version']} with Citus {state['citus']}" for state in states})
    if len(different) > 1:
        return Finding("note", "versions", f"nodes differ: {', '.join(different)}")
    return Finding("good", "versions", "the same on all nodes")


async def _check_connections(url: str) -> Finding:
    role = unquote(urlsplit(url).username or "")
    broken = await nodes.find_broken_connections(url)
    if broken:
        pairs = ", ".join(f"{source} to {target}" for source, target in broken)
        text = f"cannot connect from {pairs}; does each node's passfile name the role on all nodes?"
        return Finding("bad", role, text)
    return Finding("good", role, "connects from every node to every node")
