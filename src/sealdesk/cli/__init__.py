"""The `sealdesk` command. No other package reads the environment."""


def main() -> int:
    """Run the command that sys.argv names and return its exit code."""
    # The packages of optional features import this one, and `program` imports them.
    from sealdesk.cli import program

    return program.main()
