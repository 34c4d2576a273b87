"""Subjects of the answers that programs write for people who are absent, in their languages."""

import re

# Gateways put it before the subject of what comes from elsewhere: `[EXTERNAL] …`, `EXT: …`.
_TAG = r"(?:\W{0,3}ext(?:ern(?:al|e|o)?)?\b\W{1,4})?"
_ANSWER_PREFIX = r"(?:re|res|aw|sv|vs|r|rv|fwd?|antw|odp|ynt|απ|rif|vá|回复|回覆|رد)\s*[:：]"
# What follows such words where a program wrote them; a person's sentence goes on otherwise.
_AFTER = (
    r"(?=\W*$|\s*[:：\[\])】］*(.,!/|\"„«]|\s*[\-–—](?!\w)|\s+(?:(?:re|aw|sv|from|to your|von|zu"
    r"|until|till|through|today|this|auto\w*|reply|response|message|notifi\w*|notice|alert|bis|tot"
    r"|hasta|fino|até|jusqu\w*|до|auf (?:ihre|deine)|à votre|a su|al tuo|alla (?:tua|sua)"
    r"|and will|returning)\b"
    r"|(?:auf|to)\s*:|\w{1,12}\.? \d|\d))"
)
# From when, or until when: `bis Montag, 3. Dezember 2026`, `dal 30/11 al 5/12`.
_DATES = (
    r"(?:\s(?:bis|vom|von|ab|am|until|till?|from|through|jusqu.[aà]u?|du|hasta|desde|fino|dal|até"
    r"|de|tot|t/m|van|vanaf|do|od|från|fra|с|до)\b[^:\d]{0,30}\d[\d.,/\s-]{0,20}(?:(?:er|de)\s)?"
    r"(?:[^\W\d]\S{0,12}(?:\s(?:de\s)?[\d./-]{1,10}(?:\s[^\W\d]\S{0,12})?)?)?"
    r"|\s(?:[^\W\d]{3,12} )?\d[\d./]{0,9}(?: [^\W\d]{3,12})?[ -]?(?:asti|saakka|ig|kadar)"
    r"|\s?\[[^\]\d]{0,20}\d[^\]:]{0,30}\]|\s?[(（][^)\d]{0,20}\d[^):]{0,30}[)）]"
    r"|[，,]\d{1,2}月\d{1,2}日.{0,6})?"
)
_NOTICES = (
    r"auto(?:matic|mated|mati(?:sch|siert)(?:e[rs]?)?|m\.)?[ -]?(?:reply|response|reactie"
    r"|antwoord(?:bericht)?|acknowledge?ment|(?:e-?mail-?)?(?:rück)?antwort|beantwoording|rückmeldung"
    r"|abwesenheits\w+|(?:eingangs|empfangs)bestätigung)"
    r"|auto-?(?:svar|odpowiedź|matiskt svar|matisk svar)"
    r"|abwesenheits(?:notiz|nachricht|meldung|mitteilung|info\w*|hinweis|antwort|e?-?mail"
    r"|benachrichtigung|assistent|agent)"
    r"|urlaubs(?:benachrichtigung|abwesenheit)"
    r"|r[ée]ponse (?:auto(?:matique)?|d.absence)"
    r"|(?:respuesta|contestación) autom[áa]tica(?: (?:de|por) ausencia)?"
    r"|risposta automatica|resposta autom[áa]tica|message (?:automatique|d.absence)"
    r"|répondeur automatique|contestador autom[áa]tico|absence notification"
    r"|notification d.absence|mensa(?:je|gem) autom[áa]tic[oa]|messaggio automatico"
    r"|(?:respuesta|aviso) de ausencia|afwezigheids(?:bericht|melding|assistent)"
    r"|frånvaro(?:meddelande|besked|assistent)|fraværs(?:melding|besked|assistent|meddelelse)"
    r"|poissaolo(?:viesti|ilmoitus)"
    r"|ausência temporária|automatyczna odpowiedź|odpowiedź automatyczna"
    r"|automatick[áa] odpov[eě][ďd]\w?|automatikus válasz|răspuns automat|αυτόματη απάντηση"
    r"|автоматический ответ|авто-?ответ(?:чик)?|автоматична відповідь|автоматичен отговор"
    r"|а[ув]томатски одговор|автоматты жауап|پاسخ خودکار|awtomatikong tugon"
    r"|automaattinen (?:vastaus|poissaolo\w+)"
    r"|otomatik (?:yanıt|cevap)|automatski odgovor|automatsko odgovaranje|resposta automàtica"
    r"|erantzun automatikoa|samodejni odgovor|automati(?:nis|škas) atsakymas|automātisk[āa] atbilde"
    r"|automaatvastus|trả lời tự động|tự động trả lời|(?:balasan|jawaban) otomatis"
    r"|balasan automatik|jawapan automatik|sjálfvirkt svar|ตอบกลับอัตโนมัติ"
    r"|(?:स्वचालित|स्वयंचलित|स्वत[ः:]|ऑटो) ?(?:उत्तर|जवाब|प्रतिक्रिया|प्रत्युत्तर|रिप्लाई)"
    r"|(?:স্ব(?:য়|য়)ংক্রি(?:য়|য়)|অটো) ?(?:উত্তর|জবাব|প্রত্যুত্তর|প্রতিক্রি(?:য়া|য়া)|রিপ্লাই)"
    r"|(?:ਸਵੈਚਲਿਤ|ਆਟੋਮੈਟਿਕ|ਸਵੈ-?ਚਾਲਤ) ?(?:ਜਵਾਬ|ਉੱਤਰ)|સ્વચાલિત (?:જવાબ|પ્રત્યુત્તર)|(?:خودکار|آٹو) جواب"
    r"|தானியங்கி (?:பதில்|மறுமொழி)|స్వయంచాలక (?:ప్రత్యుత్తరం|జవాబు)"
    r"|(?:(?:休假|外出|出差)[时中]?)?自动(?:回复|答复)"
    r"|(?:外出時|不在時)?自動(?:返信|応答|回覆)(?:メール|メッセージ)?"
    r"|(?:不在|休暇)(?:通知|応答|連絡|のお知らせ)|자동 ?(?:회신|응답)"
    r"|(?:부재|휴가|외출) ?중 ?(?:자동 ?(?:응답|회신)|메시지|알림)"
    r"|(?:ال)?(?:رد|إجابة) (?:ال)?(?:تلقائية?|آلي)"
    r"|מענה אוטומטי|תשובה אוטומטית"
)
_SELF = (
    rf"(?:(?:i am|i.m|i will be|i.ll be|(?:ich )?bin|je suis|estoy|estou|sono|ik ben|jestem|jag är"
    rf"|jeg er|olen|jsem|(?:я )?нахожусь|я|меня|أنا|我(?:目前|现在|正)?){_DATES} ?)?"
    r"(?:(?:currently|derzeit|zurzeit|actuellement|momenteel) )?"
)
_AWAY = (
    r"out[ -]of[ -](?:the )?office|(?:not in|away from) (?:the |my )?(?:office|mail|desk)"
    r"|nicht im (?:büro|haus)|abs(?:ente?|ence) du bureau|fuera de (?:la )?oficina"
    r"|fuori (?:sede|ufficio)"
    r"|assenza dall.ufficio|ausencia de (?:la )?oficina|(?:fora|ausente|ausência) do escritório"
    r"|buiten kantoor|niet (?:aanwezig|op kantoor)|poza biurem|nieobecn\w+ w biurze"
    r"|inte på kontoret|ute av kontoret|ikke (?:på kontoret|til ?stede)|poissa toimisto(?:sta|lta)"
    r"|mimo kancelář\w*|házon kívül"
    r"|(?:нет|не) (?:на (?:рабочем )?месте|в офисе)|вне офиса"
    r"|отсутству(?:ю|ет) (?:в офисе|на (?:рабочем )?месте)"
    r"|отсутствие на работе|εκτός γραφείου"
    r"|ofis dışında\w*|nisam u uredu|nu sunt la birou"
    r"|(?:خارج|غير موجود في) المكتب|(?:אי(?:נני|ני)|לא נמצאת?) במשרד"
    r"|ez dago bulegoan|不在办公室|不在辦公室|(?:कार्यालय|दफ़्तर|ऑफ़िस) से बाहर"
    r"|(?:অফিসের|কার্যাল(?:য়ে|য়ে)র) বাইরে|ਦਫ਼ਤਰ ਤੋਂ ਬਾਹਰ|دفتر سے باہر"
)
# Words that begin ordinary subjects too: alone, with dates, or before a colon.
_ABSENT = (
    r"ooo|abwesend|außer haus|absent(?:\(?e\)?)?|ausente|assente|afwezig|frånvarande|fraværende"
    r"|nieobecn[yae]|poissa"
)
_ABSENCE = (
    r"oof|absence|ausencia|ausência|assenza|afwezigheid|frånvaro|fravær|nieobecność|távollét"
    r"|abwesenheit|nepřítomnost|neprítomnosť|auto-?responder|外出|外出中(?:です)?"
    r"|odsot(?:en|na|nost)|休暇|休暇中(?:のため|です)?|(?:休假|出差)中"
    r"|不在|(?:부재|외출|휴가) ?중|vacation (?:auto-?)?(?:reply|response|message|notice)"
)
# What people write about their own holidays: alone, or before the subject they answer.
_ON_HOLIDAY = (
    r"im urlaub|in elternzeit|i[mn] mutterschutz|auf dienstreise|on (?:vacation|holidays?)"
    r"|on (?:(?:annual|parental|maternity|paternity|sick) )?leave"
    r"|en (?:vacances|congés?(?: (?:de )?(?:[mp]aternité|parental))?)"
    r"|de vacaciones|in ferie|de férias|op vakantie|na urlopie|på semester"
    r"|på ferie|lomalla|в отпуск[еу]?(?: съм)?"
    r"|у відпустці|szabadságon(?: vagyok)?|(?:yıllık )?izinde(?:yim)?|în concediu"
    r"|na dovolen(?:é|ke)|na dopustu|(?:tôi )?đang nghỉ phép|in congedo|在休假|在度假|في إجازة"
)
_HOLIDAY = (
    r"urlaub(?:svertretung)?|elternzeit|dienstreise|krank|out sick|urlop|holidays?"
    r"|vacation|vacances|vacaciones|ferien?|férias|vakantie|semester|away"
    r"|congés?(?: (?:de )?[mp]aternité)?|yıllık izin|إجازة|בחופשה|indisponible"
    r"|(?:annual|parental|maternity|paternity|sick) leave"
)
# Notes: `Ann Lee est absent(e) (retour 05/01/2026)`.
_RETURNING = (
    r"\s*\((?:return\w*|retour|rückkehr|zurück|bis|until|back|regres\w*|volver\w*|vuelv\w*|retorn\w*"
    r"|torn\w*|rientr\w*|terug|tillbaka|tilbake?|powrót|wraca\w*)\b[^()\d]{0,20}\d"
)
_OF_PROGRAM = re.compile(
    rf"{_TAG}(?:[\[(【［*]?(?:{_NOTICES}){_AFTER}|[\[(【［*]?{_SELF}(?:{_AWAY}){_AFTER}"
    rf"|{_SELF}(?:{_ABSENCE}|(?:{_ABSENT}){_DATES})\s*(?:$|[:：]|{_ANSWER_PREFIX})"
    rf"|{_SELF}(?:ooo|{_ON_HOLIDAY}){_DATES}\W*(?:$|{_ANSWER_PREFIX})"
    rf"|[\[(【](?:{_ABSENT}|{_ABSENCE}|{_ON_HOLIDAY})[\])】]|ooo\s+-\s"
    rf"|{_SELF}(?:{_HOLIDAY}){_DATES}\W{{1,3}}{_ANSWER_PREFIX}"
    # Of Sieve and Notes: `Auto: Re: …`, as whatever the desk sends, `Ann is out of the office.`
    rf"|auto\s*:\s*+(?={_ANSWER_PREFIX}|.*\bis out\b|.*\b(?:{_AWAY}|{_ABSENT})(?:\W|$))"
    r"|(?:\w[\w.-]* ){1,4}(?:is (?:currently )?(?:out of the office\.?\s*(?:$|\()"
    rf"|on (?:vacation|holiday|(?:\w+ )?leave)\W*{_ANSWER_PREFIX}|(?:{_AWAY}){_DATES}\s*$)"
    rf"|(?:is|ist|est|è|está) (?:{_AWAY}|{_ABSENT})(?:\.\s*$|{_RETURNING})"
    rf"|[-–—] (?:{_AWAY}|{_NOTICES})\s*$))"
    # Of programs that keep the subject before it.
    rf"|.{{0,250}} [(\[](?:ooo|{_AWAY})[)\]]\s*$",
    re.IGNORECASE,
)


def is_of_absence(subject: str) -> bool:
    """Whether a subject is that of a program; `Re:` before it is that of a person who answers.

    In brackets at its end, `Re: bowl (Out of Office)`, programs write so too.
    """
    return _OF_PROGRAM.match(subject.lstrip()) is not None
