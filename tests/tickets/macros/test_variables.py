"""The variables of macros: their values are plain text, filled in once."""

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from sealdesk.tickets.macros import variables
from sealdesk.tickets.macros.variables import NAMES, check_variables, fill
from sealdesk.tickets.text import markdown, mentions
from sealdesk.tickets.text.arrangement import Look
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS

VALUES = {
    "customer.name": "Maria Lindgren", "customer.first_name": "Maria",
    "customer.email": "maria_l@example.test", "ticket.number": 320,
    "ticket.subject": "Order 7731", "agent.name": "Eve Miller", "agent.first_name": "Eve",
}  # fmt: skip
LOOK = Look(root="", quote_label="Quote", names=mentions.index_names([("eve", "Eve Miller")]))
_TAG = re.compile(r"<[^>]*>")


def shown(value: str, text: str = "Hello {{customer.name}}, bye.") -> str:
    """The HTML of a macro's text in which the customer's name has this value."""
    filled = fill(text, {**VALUES, "customer.name": value})
    return markdown.render(filled, False, LOOK).html


def words(rendered: str) -> str:
    """What people see of it, without the word joiner, which is invisible."""
    return html.unescape(_TAG.sub("", rendered)).replace("\u2060", "").rstrip("\n")


def test_every_variable_has_a_value() -> None:
    text = " ".join(f"{{{{{name}}}}}" for name in NAMES)
    assert check_variables(text) == []
    assert fill(text, VALUES) == " ".join(str(VALUES[name]) for name in NAMES)


def test_spaces_within_the_braces_are_ignored() -> None:
    assert check_variables("{{ customer.name }}") == []
    assert fill("{{ customer.name }}", VALUES) == "Maria Lindgren"


def test_a_value_that_is_a_variable_stays_as_it_is() -> None:
    tricked = {**VALUES, "customer.name": "{{agent.name}}"}
    assert fill("Hello {{customer.name}}", tricked) == "Hello {{agent.name}}"
    assert fill("{{customer.name}}{{agent.name}}", tricked) == "{{agent.name}}Eve Miller"
    halves = {**VALUES, "customer.name": "{{", "ticket.subject": "agent.name}}"}
    assert fill("{{customer.name}}{{ticket.subject}}", halves) == "{{agent.name}}"


def test_a_stored_variable_of_a_later_version_stays_as_it_is() -> None:
    assert fill("Hello {{desk.name}}", VALUES) == "Hello {{desk.name}}"


@for_each(
    "value",
    [
        "[Log in](https://evil.test)", "[x]", "![x](https://evil.test/a.png)", "**bold**",
        "_under_", "snake_case", "`code`", "``", "<https://evil.test>", "<b>bold</b>",
        "&lt;b&gt;", "AT&T", "a \\ b", "C:\\", "\\*", "\\", "]", "](https://evil.test)", "~~x~~",
        "@Eve Miller", "@Eve", "me@Eve", "5 * 3 * 2", "O'Neil-Smith", "# x", "{{agent.name}}",
    ],
)  # fmt: skip
def test_a_value_is_shown_as_it_is(value: str) -> None:
    rendered = shown(value)
    assert words(rendered) == f"Hello {value}, bye."
    assert {*re.findall(r"<(\w+)", rendered)} <= {"p", *(["a"] if "https:" in value else [])}


def test_a_link_of_a_value_leads_where_it_says() -> None:
    rendered = shown("[Log in](https://evil.test)")
    assert ">Log in</a>" not in rendered
    assert ">https://evil.test</a>" in rendered
    # Nor does the text of the macro complete it.
    rendered = shown("[Log in]", "{{customer.name}}(https://example.test)")
    assert ">Log in</a>" not in rendered


@for_each("value", ["# x", "> x", "- x", "+ x", "* x", "1. x", "12) x", "```", "==="])
def test_a_value_at_the_beginning_of_a_line_begins_no_block(value: str) -> None:
    rendered = shown(value, "Hello\n{{customer.name}}\nbye")
    assert rendered == f"<p>Hello<br>{html.escape(value, quote=False)}<br>bye</p>\n"


def test_a_customers_name_mentions_nobody() -> None:
    names = mentions.index_names([("eve", "Eve Miller")])
    for value in ("@Eve Miller", "(@Eve", "@@Eve"):
        text = fill("Hello {{customer.name}}", {**VALUES, "customer.name": value})
        assert markdown.mentioned_ids(text, names) == []
    assert markdown.mentioned_ids("Hello @Eve", names) == ["eve"]


def test_a_value_is_one_line() -> None:
    broken = {**VALUES, "customer.name": " Maria\n\n# Lindgren\t\u2028x "}
    assert fill("Hello {{customer.name}}", broken) == "Hello Maria # Lindgren x"


def test_ordinary_values_have_no_escapes() -> None:
    for value in ("maria_l@example.test", "[URGENT] Order #7731: 5 bowls", "J.-P. O'Neil", "A & B"):
        assert fill("To {{customer.name}}.", {**VALUES, "customer.name": value}) == f"To {value}."


@for_each("text", HOSTILE_TEXTS)
def test_hostile_values_are_harmless(text: str) -> None:
    rendered = shown(text)
    assert not re.search(r"<(?!/?(p|br|a)\b)", rendered)
    assert "javascript:" not in "".join(re.findall(r'href="([^"]*)"', rendered))


@given(st.text(alphabet="ab *_`[](){}<>&;#!\\@~-+=|.:1", max_size=20))
def test_any_value_is_shown_as_it_is(value: str) -> None:
    line = " ".join(value.split())
    rendered = shown(value, "Hello {{customer.name}} bye.")
    assert words(rendered) == f"Hello {line} bye."


@given(st.text(alphabet="{} a.", max_size=30))
def test_what_is_accepted_has_no_braces_left(text: str) -> None:
    if not variables.check_variables(text):
        assert "{{" not in text


def test_checking_a_long_text_takes_steps_in_proportion_to_its_length() -> None:
    for text in ("{{" * 32768, "{{a" * 20000, "{{" + "a" * 65000, "{{ }}" * 13000, "}}" * 32768):
        assert check_variables(text)[:1] != [] or "{{" not in text
