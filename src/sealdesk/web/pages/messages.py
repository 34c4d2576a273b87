"""What refusals say in English, told again in the language of the page."""

import re
from functools import cache

from sealdesk.web.pages.i18n import ENGLISH, gettext, noted, spoken

# The sentences of refusals that pages show. A test holds them to those that are really said.
_SENTENCES = (
    noted("This field is required."),
    noted("This must not be empty."),
    noted("This must be at most %(what)s characters."),
    noted("This must have at most %(what)s items."),
    noted("This must be at least %(what)s."),
    noted("This must be at most %(what)s."),
    noted("This must be one of %(what)s."),
    noted("This is not an e-mail address: %(what)s"),
    noted("A name has 1 to 100 characters."),
    noted("A password must have at least %(what)s characters."),
    noted(
        "This is one of the common passwords, which are guessed first. Take one of your own, such"
        " as four words that do not belong together."
    ),
    noted(
        "This is little else than a name or the e-mail address, which are guessed first. Besides"
        " them a password must have at least 8 letters or digits."
    ),
    noted("The e-mail address or the password is wrong."),
    noted(
        "Too many log-ins failed. Try again in %(what)s s, or ask an administrator for a reset"
        " link."
    ),
    noted("The reset token was used, has expired, or never was. Ask for a new one."),
    noted("Only a super_admin can change a super_admin."),
    noted("You cannot give a role above your own."),
    noted("Nobody else can administer this desk. Make somebody else an administrator first."),
    noted("Reactivate them first: a link would let nobody in."),
    noted("This must be later than since."),
    noted("Events are kept for 30 days, since %(what)s."),
    noted("There are %(what)s webhook endpoints, as many as there may be. Delete one first."),
    noted("The endpoint is %(what)s. Activate it first."),
    noted("The key is revoked for good. Create a new one."),
    noted("The key has expired. Create a new one."),
    noted("This must have 1 to 100 characters."),
    noted("This is not an address or a network, as in 203.0.113.0/24."),
    noted("This is not an ISO 8601 time, as in 2027-01-31T09:30:00Z."),
    noted("This must be in the future; it is %(what)s now."),
    noted("A replay to this endpoint is under way. Wait until it has its finished_at."),
)
_HOLE = "%(what)s"


def retold(text: str) -> str:
    """A refusal's sentence in the language of this request; as it is when it is not known."""
    if spoken() == ENGLISH:
        return text
    for sentence, pattern in _patterns():
        found = pattern.fullmatch(text)
        if found:
            # No formatting: what fills the hole may be anything that somebody typed.
            return gettext(sentence).replace(_HOLE, found[1] if found.groups() else "")
    return gettext(text)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    texts = [(each, re.escape(each).replace(re.escape(_HOLE), "(.*)")) for each in _SENTENCES]
    return [(each, re.compile(text, re.DOTALL)) for each, text in texts]
