from tests.cli.fixtures import Home


def test_a_rebuild_counts_the_tickets_of_a_tenant(home: Home) -> None:
    tenant_id = home.terminal.tenant("reports@acme.test")
    shown = home.terminal.out("reports", "rebuild", "--tenant", tenant_id)
    assert shown == "Counted the tickets of 1 tenant.\n"


def test_a_tenant_that_is_not_there_is_said(home: Home) -> None:
    refusal = home.terminal.refused("reports", "rebuild", "--tenant", "nobody")
    assert "There is no such tenant" in refusal
