"""The hostile texts of one tenant: a selection by default."""

from collections.abc import Iterator
from typing import NamedTuple

# The result of 7919 * 7907, which a text shows if a template engine evaluates it.
SUM, WORKED_OUT = "7919*7907", "62615533"
# Short enough for a tag. Ends what it may stand in, runs there, is a template, and turns text.
BREAKOUT = f"x\"'></title></textarea><svg/onload=alert(1)>{{{{{SUM}}}}}%s\u202e"
_IMAGE = "<img src=x onerror=alert(1)>"
_QUOTED = "&lt;img src=1 onerror=alert(1)&gt;"
# Searches and filters refuse longer ones.
_ASKED = 200
# What is chosen for every run of the tests, by hand, of each kind some.
CHOSEN_LIVE = (
    "<script>alert(1)</script>", "</script><script>alert(1)</script>",
    "<<script>alert(1)//<</script>", "\" autofocus onfocus=alert(1) x=\"",
    "' autofocus onfocus=alert(1) x='", "x autofocus onfocus=alert(1)",
    f"</select></pre></code></bdi></dialog></noscript></template>{_IMAGE}",
    "<iframe srcdoc=\"<script>alert(1)</script>\"></iframe>", "<iframe src=javascript:alert(1)>",
    "<object data=javascript:alert(1)>", "<embed src=javascript:alert(1)>",
    "<body onload=alert(1)>", "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>", "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    f"<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;{_QUOTED}\">",
    "<form action=javascript:alert(1)><button autofocus>",
    "<button formaction=javascript:alert(1)>", "<base href=//x.test/>",
    "<meta http-equiv=refresh content='0;url=//x.test'>", "<link rel=stylesheet href=//x.test>",
    "<style>@import '//x.test'</style>", "<p style=color:red>",
    f"<!-->{_IMAGE}-->", f"<![CDATA[{_IMAGE}]]>",
    "<a href=javascript:alert(1)>x</a>", "javascript:alert(1)",
    "java\tscript:alert(1)", "data:text/html,<script>alert(1)</script>", "//x.test/a.js",
    "https://x.test/\"onmouseover=\"alert(1)", "https://x.test/'onmouseover='alert(1)",
    "https://x.test/<img/src=x/onerror=alert(1)>", "https://x.test/&quot;onmouseover=alert(1)",
    "http://javascript:alert(1)", "HTTPS://x.test/\u202ecod.exe", "https://x.test)<b>",
)  # fmt: skip
CHOSEN_INERT = (
    "<!--", "]]>", "[x](javascript:alert(1))", "` onfocus=alert(1) `",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script&#62;alert(1)", "&amp;lt;b&amp;gt;",
    "%3Cscript%3Ealert(1)%3C/script%3E", "\\u003cscript\\u003ealert(1)", "\\x3cscript\\x3e",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-", "\uff1cscript\uff1ealert(1)", "\u2028alert(1)",
    f"{{{{ {SUM} }}}}", "{% include 'frame.html' %}", "{{ ''.__class__.__mro__ }}",
    f"<%= {SUM} %>", f"${{{SUM}}}", f"#{{{SUM}}}", "{0}{x!r}%n%(x)s", "=cmd|' /C calc'!A0",
    "@SUM(1)", "';--", "\u202egnp.exe\u202c", "\u2066\u2028\u0085", "\x01\x08\x1b[31m\x7f",
    "\U000e0041\ufffe", "\u0301" * 40,
)  # fmt: skip
CHOSEN = (*CHOSEN_LIVE, *CHOSEN_INERT)


class Texts(NamedTuple):
    """The payloads of one tenant."""

    payloads: tuple[str, ...] = CHOSEN

    def fit(self, most: int, turn: int = 0) -> str:
        """The breakout and as many as fit, beginning with another one at every turn."""
        text = BREAKOUT
        for each in self._from(turn):
            if len(text) + len(each) < most:
                text += f" {each}"
        return text

    def whole(self, turn: int = 0) -> str:
        """All of them, beginning with another one at every turn."""
        return " ".join((*self._from(turn), BREAKOUT))

    def parts(self) -> Iterator[str]:
        """All of them, in texts short enough for a search."""
        left = [BREAKOUT, *self.payloads]
        while left:
            text = SUM
            while left and len(text) + len(left[0]) < _ASKED:
                text += f" {left.pop(0)}"
            yield text

    def _from(self, turn: int) -> tuple[str, ...]:
        first = turn % len(self.payloads)
        return self.payloads[first:] + self.payloads[:first]
