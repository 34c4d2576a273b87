"""Hostile texts and search queries: markup, template code, control and bidirectional characters."""

HOSTILE_TEXTS = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></textarea></pre><svg onload=alert(1)>",
    "{{ 7919 * 7907 }}{% include 'frame.html' %}",
    "<!--", "]]>", "&lt;b&gt;&amp;", "javascript:alert(1)",
    "\u202egnp.exe\u202c", "a\u2066\u2028\u0085", "\x01\x08\x1b[31m\x7f", "\U000e0041\ufffe",
)  # fmt: skip

HOSTILE_QUERIES = [
    '"',
    '""',
    '"a',
    "' OR 1=1 --",
    "a AND OR NOT NEAR(",
    "tenant_id : x",
    "words:*",
    "{a b} : ^c",
    "a\0b",
    "\ud800",
    "😀",
    "\u202eabc",
    "عربي שלום",
    "退款 퇴",
    "-",
    "--",
    "-a -b",
    "*",
    "a & ! | <-> b:*",
    "\\'x",
    "%s :tenant_id $1",
    "word " * 1000,
    "-x" * 1000,
    "(" * 1000,
    "é" * 1000,
]
