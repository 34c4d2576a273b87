"""What refusals say in English, told again in the language of the page."""

import re
from functools import cache

from sealdesk.web.pages.i18n import ENGLISH, active_language, gettext, gettext_noop

# The sentences of refusals that pages show. A test holds them to those that are really said.
_SENTENCES = (
    gettext_noop("This field is required."),
    gettext_noop("This must not be empty."),
    gettext_noop("This must be at most %(what)s characters."),
    gettext_noop("This must have at most %(what)s items."),
    gettext_noop("This must be at least %(what)s."),
    gettext_noop("This must be at most %(what)s."),
    gettext_noop("This must be one of %(what)s."),
    gettext_noop("This is not an e-mail address: %(what)s"),
    gettext_noop("A name has 1 to 100 characters."),
    gettext_noop("A password must have at least %(what)s characters."),
    gettext_noop(
        "This is one of the common passwords, which are guessed first. Take one of your own, such"
        " as four words that do not belong together."
    ),
    gettext_noop(
        "This is little else than a name or the e-mail address, which are guessed first. Besides"
        " them a password must have at least 8 letters or digits."
    ),
    gettext_noop("The e-mail address or the password is wrong."),
    gettext_noop(
        "Too many log-ins failed. Try again in %(what)s s, or ask an administrator for a reset"
        " link."
    ),
    gettext_noop("The reset token was used, has expired, or never was. Ask for a new one."),
    gettext_noop("Only a super_admin can change a super_admin."),
    gettext_noop("You cannot give a role above your own."),
    gettext_noop(
        "Nobody else can administer this desk. Make somebody else an administrator first."
    ),
    gettext_noop("Reactivate them first: a link would let nobody in."),
    gettext_noop("This must be later than since."),
    gettext_noop("Events are kept for 30 days, since %(what)s."),
    gettext_noop(
        "There are %(what)s webhook endpoints, as many as there may be. Delete one first."
    ),
    gettext_noop("The endpoint is %(what)s. Activate it first."),
    gettext_noop("The key is revoked for good. Create a new one."),
    gettext_noop("The key has expired. Create a new one."),
    gettext_noop("This must have 1 to 100 characters."),
    gettext_noop("This is not an address or a network, as in 203.0.113.0/24."),
    gettext_noop("This is not an ISO 8601 time, as in 2027-01-31T09:30:00Z."),
    gettext_noop("This must be in the future; it is %(what)s now."),
    gettext_noop("A replay to this endpoint is under way. Wait until it has its finished_at."),
)
_HOLE = "%(what)s"


def translate(text: str) -> str:
    """A refusal's sentence in the language of this request; as it is when it is not known."""
    if active_language() == ENGLISH:
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
