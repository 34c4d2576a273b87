"""docs/incidents.md: its commands work, and what it quotes is what the service says."""

import re
from pathlib import Path

from sealdesk.routes.rooms import PROBLEM_TYPES
from tests.cli.terminal import Terminal

_ROOT = Path(__file__).parents[2]
_CHECKS = _ROOT / "src" / "sealdesk" / "installation"
GUIDE = (_ROOT / "docs" / "incidents.md").read_text()
_COMMAND = re.compile(r"^(sealdesk [^#\n]+?) *(?:#|$)|`(sealdesk [^`]+)`", re.MULTILINE)


def commands() -> list[str]:
    """The commands that it names, each once, those that ask before those that change something."""
    found = {line or quoted for line, quoted in _COMMAND.findall(GUIDE)}
    changing = ("two-factor-off", "revoke", "restore", "confirm")
    return sorted(found, key=lambda each: any(word in each for word in changing))


def test_every_command_works_as_it_is_written(installed: Terminal, tmp_path: Path) -> None:
    tenant = installed.tenant("ada@acme.test")
    key = installed.json("keys", "create", "--tenant", tenant, "--name", "Shop")
    mailbox = ("--tenant", tenant, "--imap-host", "localhost", "--username", "desk")
    installed.out("mailboxes", "add", "desk@acme.test", *mailbox, stdin="secret\n")
    backup = tmp_path / "backup.tar"
    installed.out("backup", str(backup))
    values = {
        "TENANT": tenant,
        "KEY_ID": str(key["id"]),
        "EMAIL": "ada@acme.test",
        "ADDRESS": "desk@acme.test",
        "NEWEST_BACKUP": str(backup),
        "NEW_BACKUP": str(tmp_path / "another.tar"),
    }
    assert len(commands()) > 10
    for command in commands():
        words = [values.get(word, word) for word in command.split()[1:]]
        if words == ["restore", "--drill"]:
            words.append(str(backup))
        ended = installed.run(*words)
        # The mailbox is at no server, and there is a database already: each is said.
        is_refusal = words[:2] == ["mailboxes", "test"] or words[0] == "restore"
        assert ended.returncode == 0 or is_refusal, (command, ended.stdout, ended.stderr)
        assert "sealdesk --help" not in ended.stderr, (command, ended.stderr)
        assert "; see sealdesk" not in ended.stderr, (command, ended.stderr)


def test_every_finding_of_the_doctor_that_it_quotes_exists() -> None:
    quoted = {
        name
        for line in GUIDE.splitlines()
        for said in re.findall(r"`sealdesk doctor`: ([^|.;]+)", line)
        for name in re.findall(r'"(\w+)"', said)
    }
    assert len(quoted) > 5
    sources = [*(_ROOT / "src/sealdesk/cli/doctor").glob("*.py"), *_CHECKS.glob("*.py")]
    text = "".join(source.read_text() for source in sources)
    of_doctor = set(re.findall(r'Finding\(\s*[^,]+,\s*"(\w+)"', text))
    assert quoted <= of_doctor | set(re.findall(r'Issue\(\s*"(\w+)"', text))


def test_every_code_that_it_quotes_exists() -> None:
    quoted = set(re.findall(r"\b(?:401|410|429|503) `(\w+)`", GUIDE))
    assert quoted
    assert quoted <= {each.code for each in PROBLEM_TYPES}
