from tests.cli.fixtures import Home


def test_documents_that_are_right_are_counted_as_such(home: Home) -> None:
    assert home.terminal.out("rewrite-documents") == "Rewrote 0 ticket documents.\n"
