"""Header fields: addresses, encoded words, Message-IDs, names of files, marks of programs."""

from collections.abc import Iterator
from typing import Any

from sealdesk.mail.parsing.types import Address
from tests.mail.parsing.messages import Case, message, multipart, part, with_header, word

_ANN = ("ann@example.com", "Ann")
# RFC 5322, 3.4 and appendix A, and what mailers write instead.
_LISTS: dict[str, tuple[tuple[str, str], ...]] = {
    "ann@example.com": (("ann@example.com", ""),),
    "<ann@example.com>": (("ann@example.com", ""),),
    "<mailto:ann@example.com>": (("ann@example.com", ""),),
    "Ann <MAILTO:ann@example.com>": (_ANN,),
    "Ann <<ann@example.com>>": (_ANN,),
    "Ann &lt;ann@example.com&gt;": (_ANN,),
    "=?utf-8?q?Ann_=3Cann=40example.com=3E?=": (_ANN,),
    "'ann@example.com'": (("ann@example.com", ""),),
    "o'neil@example.com": (("o'neil@example.com", ""),),
    "Ann <ann@example.com>": (_ANN,),
    '"Ann" <ann@example.com>': (_ANN,),
    "ann@example.com (Ann)": (_ANN,),
    "(Ann) ann@example.com": (_ANN,),
    "Ann <ann@example.com> (at (nested) work)": (_ANN,),
    '"Doe, Ann" <ann@example.com>, Bob <bob@example.com>': (
        ("ann@example.com", "Doe, Ann"),
        ("bob@example.com", "Bob"),
    ),
    'Ann "Nan" Doe <ann@example.com>': (("ann@example.com", "Ann Nan Doe"),),
    '"Ann \\"Nan\\" Doe" <ann@example.com>': (("ann@example.com", 'Ann "Nan" Doe'),),
    "A Group:Ann <ann@example.com>, bob@example.com;": (_ANN, ("bob@example.com", "")),
    "Undisclosed recipients:;": (),
    "A:a@example.com;, B:b@example.com;": (("a@example.com", ""), ("b@example.com", "")),
    "<@x.example,@y.example:ann@example.com>": (("ann@example.com", ""),),
    "Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>": (
        ("pete@silly.test", "Pete"),
    ),
    "ann @ example . com": (("ann@example.com", ""),),
    "Ann < ann@example.com >": (_ANN,),
    "Ann <ann@example.com": (_ANN,),
    "Ann <ann@example.com>>": (_ANN,),
    "Ann<ann@example.com>": (_ANN,),
    "Ann ann@example.com": (_ANN,),
    '"Ann <ann@example.com>': (("ann@example.com", '"Ann'),),
    "ann@example.com; bob@example.com": (("ann@example.com", ""), ("bob@example.com", "")),
    "ann@example.com,": (("ann@example.com", ""),),
    ",,ann@example.com,,": (("ann@example.com", ""),),
    '"ann@example.com" <ann@example.com>': (("ann@example.com", ""),),
    '"bank@example.org" <ann@example.com>': (("ann@example.com", "bank@example.org"),),
    "mailto:ann@example.com": (("ann@example.com", ""),),
    "ünï@bücher.example": (("ünï@bücher.example", ""),),
    "Ann <ann@xn--bcher-kva.example>": (("ann@xn--bcher-kva.example", "Ann"),),
    "用户@例子.广告": (("用户@例子.广告", ""),),
    '"a b"@example.com': (('"a b"@example.com', ""),),
    "ann@[192.0.2.1]": (("ann@[192.0.2.1]", ""),),
    "Ann <ann@[IPv6:2001:db8::1]>, ann@[IPv6:2001:db8::2]": (
        ("ann@[IPv6:2001:db8::1]", "Ann"),
        ("ann@[IPv6:2001:db8::2]", ""),
    ),
    "Ann <ann@example.com>, Ann Two <ANN@example.com>": (_ANN,),
    "<smtp:ann@example.com>": (("ann@example.com", ""),),
    "=?utf-8?q?ann=40example.com?=": (("ann@example.com", ""),),
    "Ann <=?utf-8?q?ann=40example.com?=>": (_ANN,),
    '"ann@example.com"': (("ann@example.com", ""),),
    "[ann@example.com]": (("ann@example.com", ""),),
    "Ann [mailto:ann@example.com]": (_ANN,),
    "Ann (ann@example.com)": (_ANN,),
    '"ann@example.com" <>': (("ann@example.com", ""),),
    "<>ann@example.com": (("ann@example.com", ""),),
    "Ann C. ann@example.com": (("ann@example.com", "Ann C."),),
    '"Ann" ann@example.com': (_ANN,),
    f'"{word("Lee, Ann")}" ann@example.com': (("ann@example.com", "Lee, Ann"),),
    "Lee, Ann <ann@example.com>": (("ann@example.com", "Lee, Ann"),),
    "Lee, ann@example.com": (("ann@example.com", ""),),
    '"Lee, A" ann@example.com, Bob, Cid <cid@example.com>': (
        ("ann@example.com", "Lee, A"),
        ("cid@example.com", "Bob, Cid"),
    ),
    "Ann (at work) ann@example.com": (_ANN,),
    "ann@example.com Ann": (_ANN,),
    "Ann - ann@example.com": (_ANN,),
    "ann@example.com bob@example.com": (("ann@example.com", ""), ("bob@example.com", "")),
    "ann . lee@example.com": (("ann.lee@example.com", ""),),
    'Ann "a lee"@example.com': (('"a lee"@example.com', "Ann"),),
    "Ann \uff1cann\uff20example.com\uff1e": (_ANN,),
    "Ann {ann@example.com}": (_ANN,),
    "Ann <mailto:ann@example.com?subject=x>": (_ANN,),
    '"Ann <ann@example.com>"': (_ANN,),
    'Ann <"ann@example.com">': (_ANN,),
}  # fmt: skip
_BROKEN_LISTS = (
    "Ann", "Ann <>, <ann>", "@", "@example.com", "ann@", "Ann <ann at example.com>", '"', "(", ":",
    "Ann <a@b@c>", "<a@b:c@d>", "a@b.example]c@d.example", "<" * 50, "(" * 50, '"' * 51,
)  # fmt: skip
_DISPLAY_NAMES = {
    word("Müller, Hans"): "Müller, Hans",
    f'"{word("Müller")}"': "Müller",
    "=?utf-8?Q?M=C3=BCller, Hans?=": "Müller, Hans",
    f"{word('Hans')} {word('Müller')}": "HansMüller",
    f"{word('Hans')} Müller": "Hans Müller",
    word("a\r\nBcc: x@example.com"): "a Bcc: x@example.com",
    word("a\x00b\x1bc"): "abc",
    word("\u202egnp.exe"): "gnp.exe",
    word('"<boss@example.org>"'): '"<boss@example.org>"',
    "x" * 1_000: "x" * 255,
}
_SUBJECTS = {
    "=?utf-8?q?A_b=C3=B6wl=C3": "A böwl",
    "=?utf-8?b?QSBiw7Z3bMM": "A böwl",
    "=?utf-8?q?A_b=C3=B6wl=C": "A böwl",
    "=?utf-8?q?A_b=C3=B6wl=": "A böwl",
    "Hello": "Hello",
    "": "",
    "   ": "",
    "=?utf-8?q?Gr=C3=B6=C3?=": "Grö",
    " a\r\n  folded\r\n\tsubject": "a folded subject",
    "x" * 10_000: "x" * 255,
    "Grüße": "Grüße",
    word("Grüße"): "Grüße",
    word("Grüße", kind="q"): "Grüße",
    # RFC 2047, 8.
    "(=?ISO-8859-1?Q?a?=)": "(a)",
    "(=?ISO-8859-1?Q?a?= b)": "(a b)",
    "(=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=)": "(ab)",
    "(=?ISO-8859-1?Q?a?=  =?ISO-8859-1?Q?b?=)": "(ab)",
    "(=?ISO-8859-1?Q?a?=\r\n    =?ISO-8859-1?Q?b?=)": "(ab)",
    "(=?ISO-8859-1?Q?a_b?=)": "(a b)",
    "(=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=)": "(a b)",
    "=?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=\r\n"
    " =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?=":
        "If you can read this you understand the example.",
    "=?US-ASCII*EN?Q?Keith_Moore?=": "Keith Moore",  # RFC 2231, 5
    "=?utf-8?b?8J+Y?= =?utf-8?b?gA==?=": "😀",
    "=?utf-8?q?=F0=9F?= =?utf-8?q?=98=80?=": "😀",
    "=?utf-8?b?SGk?=": "Hi",
    "=?utf-8?b?SGk?= =?utf-8?b?SGk?=": "HiHi",
    "=?utf-8?B?R3L?=\r\n =?utf-8?B?DtsOfZQ==?=": "Größe",
    "=?utf-8?b?SGk=====?=": "Hi",
    "=?utf-8?b?S G k=?=": "Hi",
    "=?utf-8?b?SGkx*?=": "Hi1",
    "=?utf-8?b?A?=": "",
    "=?utf-8?q?a=?=": "a",
    "=?utf-8?q?a=ZZ?=": "a=ZZ",
    "=?utf-8?q?Hello World?=": "Hello World",
    "=?utf-8?q?why?not?=": "why?not",
    "=?utf-8?x?a?=": "=?utf-8?x?a?=",
    "=?utf-8?q?a": "a",
    "=?utf-8?B?R3LDtsOfZQ==?": "Größe",
    "=?utf-8?Q?Gr=C3=B6=C3=9Fe": "Größe",
    "=?utf-8?B?R3LDtsOf?= =?utf-8?B?ZQ": "Größe",
    "=?utf-8?Q?caf=E9?=": "café",
    "=?utf-8?Q?caf=C3=A9?= =?utf-8?Q?_r=E9?=": "café ré",
    "=?utf-8?B?Y2Fm6Q==?= =?utf-8?B?IHLDqQ==?=": "café ré",
    "=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9_r=C3=A9?=": "café ré",
    "a=?utf-8?q?b?=c": "abc",
    "=?foo?q?a?=": "a",
    "=?utf-8?q?=0D=0AX-Evil:_1?=": "X-Evil: 1",
    "=?utf-8?q?=00a?=": "a",
    "=?iso-8859-1?q?=93a=94?=": "“a”",
    "=?utf-8?q??=": "",
    "=?utf-8?q?a?= =?utf-8?q?b?= c =?utf-8?q?d?=": "ab c d",
    f"=?utf-8?b?{'SGkg' * 400}?=": ("Hi " * 85).strip(),
    "=?iso-2022-jp?b?GyRCRnxLXBsoQg==?=": "日本",
}  # fmt: skip
_IDS = {
    "<a@b>": ("a@b",),
    "a@b": ("a@b",),
    "<a@b> <c@d>": ("a@b", "c@d"),
    "<a@b><c@d>": ("a@b", "c@d"),
    "&lt;a@b&gt;": ("a@b",),
    "=?utf-8?q?=3Ca=40b=3E?=": ("a@b",),
    "<a@b>,\r\n <c@d>": ("a@b", "c@d"),
    "<a@b>\r\n\t<a@b>": ("a@b",),
    "<a\r\n @b>": ("a@b",),
    "<[b378dfc5@host.example]>": ("[b378dfc5@host.example]",),
    'Message from "Ann" of Monday <a@b>': ("a@b",),
    "<no-at>": ("no-at",),
    "<>": (),
    "<<a@b>": ("a@b",),
    "nothing": (),
    "": (),
    " ".join(f"<{number}@x>" for number in range(200)): tuple(
        f"{number}@x" for number in range(100, 200)
    ),
}
_FILE_NAMES = {
    'filename="a.pdf"': "a.pdf",
    "filename=a.pdf": "a.pdf",
    "filename=a b.pdf": "a b.pdf",
    "FILENAME = a.pdf ; size=1": "a.pdf",
    'filename="a\\"b.pdf"': 'a"b.pdf',
    'filename="a;b.pdf"': "a;b.pdf",
    f'filename="{word("Größe.pdf")}"': "Größe.pdf",
    f"filename={word('Größe.pdf', kind='q')}": "Größe.pdf",
    'filename="Größe.pdf"': "Größe.pdf",
    "filename*=utf-8''Gr%C3%B6%C3%9Fe.pdf": "Größe.pdf",
    "filename*=iso-8859-1'de'Gr%F6%DFe.pdf": "Größe.pdf",
    'filename*0="a"; filename*1="b.pdf"': "ab.pdf",
    'filename*1="b.pdf"; filename*0="a"': "ab.pdf",
    "filename*0*=utf-8''Gr%C3; filename*1*=%B6%C3%9F; filename*2=\"e.pdf\"": "Größe.pdf",
    "filename=\"x.pdf\"; filename*=utf-8''%E2%82%AC.pdf": "€.pdf",
    'filename*0="a"; filename*2="c.pdf"': "a",
    "filename*=Gr%C3%B6%C3%9Fe.pdf": "Größe.pdf",
    "filename*=utf-8''%ZZ.pdf": "%ZZ.pdf",
    "filename*=utf-8''a%00b.pdf": "ab.pdf",
    "filename*=utf-8''a%0D%0Ab.pdf": "a b.pdf",
    "filename*='": "'",
    'filename=""': "attachment-1.pdf",
    "filename": "attachment-1.pdf",
    "": "attachment-1.pdf",
}
_REPAIRED_FILE_NAMES = {
    'filename="../../etc/passwd"': "passwd",
    'filename="C:\\\\Users\\\\a\\\\b.pdf"': "b.pdf",
    'filename="C:\\Users\\a\\b.pdf"': "b.pdf",
    "filename*=utf-8''..%2F..%2Fa.pdf": "a.pdf",
    "filename*=utf-8''%E2%80%AEfdp.exe": "fdp.exe",
    'filename=".."': "attachment-1.pdf",
    'filename="/"': "attachment-1.pdf",
    f'filename="{"x" * 400}.pdf"': "x" * 251 + ".pdf",
    f'filename="{"x" * 400}"': "x" * 255,
}
_AUTOMATIC: dict[str, str | None] = {
    "Auto-Submitted: no": None,
    "Auto-Submitted: auto-replied": "auto-submitted",
    "Auto-Submitted: auto-generated (vacation)": "auto-submitted",
    "auto-submitted: AUTO-NOTIFIED; owner-email=a@b": "auto-submitted",
    "Precedence: bulk": "precedence",
    "Precedence: Junk": "precedence",
    "Precedence: auto_reply": "precedence",
    "Precedence: first-class": None,
    "List-Id: <x.example.com>": "list",
    "List-Unsubscribe: <mailto:x@example.com>": "list",
    "X-Auto-Response-Suppress: All": "auto-response-suppress",
    "X-Auto-Response-Suppress: DR, OOF, AutoReply": "auto-response-suppress",
    "X-Auto-Response-Suppress: None": None,
    "X-Autoreply: yes": "autoreply",
    "X-Autorespond: 1": "autoreply",
    "X-Loop: a@example.com": "loop",
    "Return-Path: <>": "empty sender",
    "Return-Path: < >": "empty sender",
    "Return-Path: <ann@example.com>": None,
}
_OF_ABSENCE = (
    "Absence : bol", "Ausente: cuenco", "Im Urlaub", "On vacation Re: bowl", "Out-of-office: bowl",
    "Frånvaro: skål", "Nieobecność w biurze", "Tự động trả lời: bát", "부재 중 메시지",
    "Automatic reply: bowl", "AUTO: Ann is out (back on 3 May)", "[Auto-Reply] bowl", "Auto reply",
    "I am out of the office", "Out of Office", "外出中: 鉢", "Automatische Antwort: Schale",
    "Abwesenheitsnotiz", "Réponse automatique : bol", "Respuesta automática: taza",
    "Risposta automatica: tazza", "Resposta automática: tigela", "Automatisch antwoord: kom",
    "Autosvar: skål", "Automatisk svar: skål", "Odpowiedź automatyczna: miska",
    "Automatická odpověď: miska", "Automatická odpoveď: miska", "Automatikus válasz: tál",
    "Răspuns automat: castron", "Αυτόματη απάντηση: μπολ", "Автоматический ответ: чаша",
    "Автоматична відповідь: чаша", "Automaattinen vastaus: kulho", "Otomatik yan\u0131t: kase",
    "自动回复: 碗", "自動返信: 茶碗", "자동 회신: 그릇", "رد تلقائي: وعاء", "מענה אוטומטי: קערה",
    "Trả lời tự động: bát", "Balasan otomatis: mangkuk", "Auto: Re: bowl", "Away from office: x",
    "Ann Lee is out of the office.", "Fraværsassistent: skål", "Poissa: kulho", "休暇中: 鉢",
    "Autoodpowiedź: miska", "תשובה אוטומטית: קערה", "Jawapan Automatik: x", "休假自动回复: 碗",
    "Autoresponder: bowl", "Vacation auto-reply", "I am on vacation", "I'm on holiday Re: bowl",
    "Sjálfvirkt svar: skál", "Automātiskā atbilde: bļoda", "Ausencia de la oficina: x",
    "Ausência do escritório: x", "Assenza dall'ufficio: x", "Buiten kantoor: x", "Nieobecny: x",
    "Nepřítomnost: x", "Neprítomnosť: x", "Házon kívül: x", "Εκτός γραφείου: x",
    "Нет на рабочем месте: x", "Automatsko odgovaranje: x", "Resposta automàtica: x",
    "[EXTERNAL] Automatic reply: bowl", "EXT: Abwesenheitsnotiz: Schale", "(Extern) Out of office",
    "Abwesenheitsmeldung: Schale", "Urlaub: Re: Schale", "Je suis absent du bureau",
    "Estoy fuera de la oficina", "Assenza: tazza", "Automatische reactie: kom", "不在: 鉢",
    "Message automatique : bol", "Inte på kontoret: skål", "外出時自動回覆: 碗",
    "Automatische Antwort auf Ihre Anfrage", "Out of office Dec 24 - Jan 2",
    "(Auto-reply) bowl", "الرد التلقائي: وعاء", "Annual leave: Re: bowl", "I am away: Re: bowl",
    "Frånvarande: skål", "Fraværende: skål", "Not in the office: bowl", "Ferien: Re: Schale",
    "Réponse auto: bol", "Réponse d'absence : bol", "休暇のお知らせ: 鉢", "Parental leave Re: bowl",
    "Automatische Empfangsbestätigung: Schale", "Autom. Antwort: Schale", "[OOO] Bowl",
    "不在応答: 鉢", "休暇: Re: 鉢", "OOF: bowl", "Abwesend bis 3.12.: Schale",
    "Jawaban otomatis: mangkuk", "Auto-Reply - bowl",
    "Аутоматски одговор: чинија", "Автоматски одговор: x", "پاسخ خودکار: کاسه",
    "Erantzun automatikoa: x", "Balasan automatik: x", "Автоматты жауап: x",
    "Absent(e) Re: bol", "Ofis d\u0131ş\u0131nday\u0131m: kase", "Szabadságon vagyok Re: tál",
    "Odsotnost: x",
    "İzindeyim Re: kase", "Tôi đang nghỉ phép Re: x", "أنا خارج المكتب: x", "אינני במשרד: x",
    "În concediu Re: x", "Congé Re: bol", "Ann is on annual leave Re: bowl",
    "स्वचालित उत्तर: कटोरा", "स्वतः उत्तर: x", "कार्यालय से बाहर: x",
    "স্বয়ংক্রিয় উত্তর: বাটি", "অফিসের বাইরে: x",
    "ਸਵੈਚਲਿਤ ਜਵਾਬ: x", "خودکار جواب: x", "الرد الآلي: وعاء", "إجابة تلقائية: x",
    "我正在休假", "外出中自动回复",
    "【自動返信】碗", "外出中です: 鉢", "Авто-ответ: x",
    "Automatisches Antwort: x", "*Automatic reply*: x",
    "தானியங்கி பதில்: x", "స్వయంచాలక ప్రత్యుత్తరం: x", "स्वयंचलित उत्तर: x", "સ્વચાલિત જવાબ: x",
    "OOO until Dec 3", "Automatic acknowledgement: bowl", "Holiday: Re: bowl",
    "Automatische E-Mail-Antwort", "Urlaubsabwesenheit: Re: x", "Elternzeit: Re: x", "Urlop: Re: x",
    "Je suis absente du bureau", "Absent jusqu'au 3 décembre", "Contestación automática: x",
    "Aviso de ausencia", "Автоответчик: Re: x", "Отсутствую в офисе",
    "休假中: Re: 碗", "出差中自动回复",
    "自動応答メッセージ", "휴가중 자동응답", "في إجازة", "Otomatik cevap: x",
    "Automaattinen poissaoloilmoitus",
    "Respuesta automática de ausencia", "Automatic reply to your message", "Auto-reply to: bowl",
    "Absence notification: bowl", "Répondeur automatique", "Contestador automático", "不在連絡",
    "Automatisch antwoordbericht",
    "Ann Lee est absent(e) (retour 01/12/2026)", "Ann Lee ist abwesend (bis 5.12.)",
    "Ann Lee ist außer Haus.", "Ann Lee est absent(e).", "Ann Lee è assente.",
    "AUTO: Ann Lee ist nicht im Büro (Rückkehr am 1.12.)", "AUTO: Ann Lee est absente",
    "AUTO: Ann Lee is niet op kantoor", "Assente dal 30/11 al 5/12 Re: tazza", "Afwezig tot 5 mei",
    "Ausente até 05/12", "Nieobecna do 5.12: x", "Frånvarande till 5/12", "\u0412 отпуске до 5.12",
    "Im Urlaub bis Montag, 3. Mai 2027 Re: x", "Urlaub bis 5.12. Re: x", "Krank: Re: Schale",
    "On maternity leave Re: bowl", "On leave until Dec 5: Re: bowl", "OOO - Ann Lee",
    "[Abwesend] x", "I'll be out of office until Dec 5", "[Out of Office] bowl",
    "In Mutterschutz Re: x", "Automatisierte Antwort: x", "Automatiškas atsakymas: dubuo",
    "En congés jusqu'au 5 mai Re: bol", "외출 중 자동 회신: x", "休暇中です Re: 鉢",
    "Re: Bowl (Out of Office)", "Ann Lee - Out of Office", "Ann Lee is out of office",
    "Ann Lee is away from the office until 7 December", "OOO [Dec 1 - Dec 7] Re: Bowl",
    "I am currently out of the office and will return on Monday",
    "Parental leave - Automatic reply", "Ich bin bis zum 07.12.2026 nicht im Büro",
    "Ich bin bis 7. Dezember im Urlaub",
    "Nicht im Haus: AW: Schale", "Bin nicht im Büro: AW: Schale", "En congé maternité Re: bol",
    "Congés du 1er au 7 décembre Re: bol", "Je suis en congé parental", "In ferie R: tazza",
    "Afwezig t/m 7 december: RE: kom", "Ute av kontoret: SV: skål", "Poissa 7.12. asti VS: malja",
    "Нахожусь в отпуске до 07.12.2026", "Y\u0131ll\u0131k izindeyim (1-7 Ara)",
    "İzindeyim: YNT: kase",
    "【不在】Re: 茶碗", "我正在休假\uff0c12月7日回来", "[부재중] RE: 그릇", "[외출 중] 그릇",
    "לא נמצאת במשרד",
    "Szabadságon december 7-ig", "Estoy de vacaciones hasta el 7 de enero", "De férias RES: x",
    "Out of Office [returning Monday]",
)  # fmt: skip
_OF_PEOPLE = (
    "Re: Automatic reply: bowl", "AW: Automatische Antwort: Schale", "Auto reply does not work",
    "Absence de la poignée", "Away", "Urlaub", "Urlaub im November: Lampe fehlt",
    "Vacation: a bowl for the house",
    "Annual leave form is broken", "Away with my parcel", "Afwezig onderdeel",
    "Automatic watering is broken", "Automatische Tür defekt", "Autoteile", "Absent parts",
    "Question about out of office replies",
    "Auto: Volvo seat\r\nIn-Reply-To: <a@b.example>", "Abwesend war der Paketbote",
    "Réponse automatique reçue, mais pas de colis", "Nieobecny element w paczce",
    "[EXTERNAL] Re: bowl", "[EXT] Out of stock", "Out of office furniture?", "부재중 택배 문의",
    "Poza biurem nie działa lampa", "Autosvar virker ikke", "不在票が入っていました",
    "Ferien: Haus gesucht", "Annual leave", "Not in the box", "Empfangsbestätigung fehlt",
    "Autosvar-knappen virker ikke", "स्वचालित दरवाजा खराब है", "স্বয়ংক্রিয় দরজা ভাঙা", "الرد على طلبي",
    "स्वचालित उत्तर काम नहीं कर रहा है", "Absence of handle", "Отпуск: когда откроетесь?",
    "Holiday opening hours?", "إجازة العيد والتوصيل", "休假期间可以退货吗",
    "Автоответчик не работает", "自动门坏了",
    "Re: Ann Lee is out of the office.", "Poissa kulhosta", "Vacation message in my shop",
    "Automatic reply to my order is wrong", "Na dovolenou do Prahy", "Congé annulé",
    "Absence du 5e élément", "Absent parts from 5 boxes of bowls", "Out sick employees report",
    "Im Urlaub bis 5.12., Lieferung bitte danach", "Urlaub bis 5.12. buchen", "OOO sizes",
    "Ann ist abwesend", "Auto: Sitz ausgebaut", "Auto: Ersatzteil abwesendes", "Krank durch Lampe",
    "Holiday booking re: invoice", "Technician is absent from site.",
    "Abwesenheitsmanagement: Export", "Afwezigheidsregistratie: fout", "Frånvaroanmälan: fel",
    "Poissaolotiedot: virhe", "Shipping (out of office hours)", "Invoice (vacation rental)",
    "Ich bin vom 1.12. bis 7.12. Kunde gewesen", "Urlaub (7 Tage) Reklamation", "R: tazza",
    "Nachricht (nicht im Büro angekommen)", "Abwesenheit von Frau M. melden", "Chair - away team",
)  # fmt: skip
_OF_PROGRAMS = (
    "X-Autoreply: yes", "X-Autoreply-From: a@b.example", "X-Mail-Autoreply: y", "X-Vacation: yes",
    "X-Autogenerated: Reply", "Delivered-To: Autoresponder", "X-FC-MachineGenerated: true",
    "X-POST-MessageClass: 9; Autoresponder", "Auto-Submitted: auto-replied",
    "X-Auto-Reply: yes", "X-Precedence: auto_reply", "Preference: auto_reply",
    "X-Auto-Submitted: auto-replied", "X-Auto-Response: yes", "X-Out-Of-Office: 1",
    "X-MS-Exchange-Generated-Message-Source: OOF Agent",
    "Auto-Submitted: (rfc3834) auto-replied", "Auto-Submitted: auto_reply; x=y",
    'Auto-Submitted: "Auto-Replied"', "X-Autoresponder-Version: 2", "X-Zoho-AutoReply: yes",
    "X-MDAutoresponder: 1",
)  # fmt: skip
_SPAM = {
    "X-Spam-Flag: YES": True,
    "X-Spam-Flag: NO": False,
    "X-Spam-Status: Yes, score=9.1 required=5.0": True,
    "X-Spam-Status: No, score=0.1": False,
    "X-Spam: Yes": True,
    "Subject: X-Spam-Flag: YES": False,
}


def header_cases() -> Iterator[Case]:
    for text, people in _LISTS.items():
        yield _case("address", f"Cc: {text}\r\n", {"cc": people})
    for text in _BROKEN_LISTS:
        yield _case("no address", f"Cc: {text}\r\n", {"cc": ()})
    for text, name in _DISPLAY_NAMES.items():
        header = f"From: {text} <ann@example.com>\r\n"
        yield _case("name", header, {"sender": ("ann@example.com", name)})
    for text, subject in _SUBJECTS.items():
        yield _case("subject", f"Subject: {text}\r\n", {"subject": subject})
    for text, ids in _IDS.items():
        yield _case("references", f"References: {text}\r\n", {"references": ids})
        yield _case("in-reply-to", f"In-Reply-To: {text}\r\n", {"in_reply_to": ids})
        first = ids[0] if ids else None
        yield _case("message-id", f"Message-ID: {text}\r\n", {"message_id": first})
    two = "References: <a@b>\r\nReferences: <c@d>\r\n"
    yield _case("two fields", two, {"references": ("a@b", "c@d")})
    for field, reason in _AUTOMATIC.items():
        yield _case("automatic", f"From: a@b.example\r\n{field}\r\n", {"automatic": reason})
    for subject in _OF_ABSENCE:
        yield _case("absence", f"Subject: {subject}\r\n", {"is_by_program": True})
    for subject in _OF_PEOPLE:
        yield _case("a person", f"Subject: {subject}\r\n", {"is_by_program": False})
    for field in ("List-Id: The List <a.b.example>", "List-Post: <mailto:a@b.example>"):
        yield _case("a list", f"{field}\r\n", {"list_id": "a.b.example", "is_of_list": True})
    for name in ("X-Original-From", "X-Google-Original-From", "Original-From", "Author",
                 "x-original-sender", "X-MailFrom"):  # fmt: skip
        of_ann = {"original_from": (Address(*_ANN),)}
        yield _case("replaced by a list", f"{name}: Ann <ann@example.com>\r\n", of_ann)
    for name in ("X-Delivered-To", "X-Resolved-To", "X-Rcpt-To", "X-Forwarded-For", "Envelope-To",
                 "X-MS-Exchange-Organization-OriginalEnvelopeRecipients", "Apparently-To",
                 "Original-Recipient", "X-MS-Exchange-Inbox-Rules-Loop"):  # fmt: skip
        passed = {"delivered_to": (Address("a@b.example"), Address("c@d.example"))}
        yield _case("forwarded", f"{name}: a@b.example c@d.example\r\n", passed)
    for field in _OF_PROGRAMS:
        yield _case("program", f"{field}\r\n", {"is_by_program": True})
    for field in (
        "X-Auto-Reply: no",
        "X-Autoreply-Suppress: all",
        "X-Auto-Response-Suppress: All",
        "X-Autogenerated: yes",
    ):
        yield _case("a person", f"{field}\r\n", {"is_by_program": False})
    for field, is_spam in _SPAM.items():
        yield _case("spam", f"{field}\r\n", {"is_spam": is_spam})
    for field, is_of_website in (
        ("X-Mailer: PHPMailer 6.9.1", True), ("X-Mailer: WPMailSMTP/Mailer/smtp 4", True),
        ("X-PHP-Script: shop.example/contact.php for 192.0.2.1", True),
        ("X-PHP-Originating-Script: 33:rcube.php", False), ("X-Mailer: Apple Mail", False),
    ):  # fmt: skip
        yield _case("a website", f"{field}\r\n", {"is_of_website": is_of_website})
    for subject, is_report in (
        ("Report domain: a.example Submitter: google.com Report-ID: 1", True),
        ("[Preview] Report Domain: a.example Submitter: b.example Report-ID: 1", True),
        ("Re: Report domain: a.example Submitter: google.com", False),
    ):
        yield _case("DMARC", f"Subject: {subject}\r\n", {"is_report": is_report})
    aliased = "Original-Recipient: rfc822;a@b.example\r\n"
    yield _case("forwarded", aliased, {"delivered_to": (Address("a@b.example"),)})
    yield from _file_name_cases()
    yield from _sender_cases()


def _case(kind: str, header: str, expected: dict[str, Any]) -> Case:
    raw = message("", "text", header=header.encode())
    return Case(f"{kind}: {header.strip()[:80]}", raw, {"text": "text"} | expected)


def _file_name_cases() -> Iterator[Case]:
    for names, faults in ((_FILE_NAMES, ()), (_REPAIRED_FILE_NAMES, ("file name",))):
        for field, name in names.items():
            disposition = f"Content-Disposition: attachment; {field}"
            raw = with_header(multipart("mixed", [part("application/pdf", "x", disposition)]))
            yield Case(f"file name: {field[:60]}", raw, {"names": (name,), "faults": faults})
            if field and not field.startswith("FILENAME"):
                named = part(f"application/pdf; {field.replace('filename', 'name')}", "x")
                raw = with_header(multipart("mixed", [named]))
                yield Case(f"name: {field[:60]}", raw, {"names": (name,), "faults": faults})


def _sender_cases() -> Iterator[Case]:
    several = "From: a@x.example, B <b@x.example>\r\n"
    people = {
        several: ("a@x.example", ""),
        f"{several}sender: b@x.example\r\n": ("b@x.example", "B"),
        f"{several}sender: c@x.example\r\n": ("a@x.example", ""),
        "sender: c@x.example\r\n": ("c@x.example", ""),
        "Return-Path: <d@x.example>\r\n": ("d@x.example", ""),
        "From: Ann\r\nsender: c@x.example\r\n": ("c@x.example", ""),
        "To: a@x.example\r\n": None,
    }
    for header, sender in people.items():
        yield _case("sender", header, {"sender": sender})
    both = {"co_authors": (Address("a@x.example"),)}
    yield _case("co-authors", f"{several}sender: b@x.example\r\n", both)
    twice = "From: a@x.example\r\nFrom: b@x.example\r\nSubject: 1\r\nSubject: 2\r\n"
    expected = {"sender": ("a@x.example", ""), "subject": "1", "faults": ("duplicate header",)}
    yield _case("twice", twice, expected)
    several_to = "To: a@x.example\r\nTo: b@x.example\r\n"
    yield _case("two To", several_to, {"to": (("a@x.example", ""), ("b@x.example", ""))})
    reply_to = "Reply-To: R <r@x.example>\r\n"
    yield _case("reply-to", reply_to, {"reply_to": (("r@x.example", "R"),)})
    results = "Authentication-Results: mx.example;\r\n dmarc=fail\r\nAuthentication-Results: b\r\n"
    expected = {"authentication_results": ("mx.example; dmarc=fail", "b")}
    yield _case("results", results, expected)
    for name in ("mailer-daemon", "MAILER-DAEMON", "postmaster"):
        header = f"From: {name}@x.example\r\n"
        yield _case("mail system", header, {"automatic": "mail system"})
