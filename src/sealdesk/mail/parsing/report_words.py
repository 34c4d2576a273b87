"""What the words of a mail server say of a message that was sent, in many languages; no I/O."""

import re

# In words that are not known here, only a code says whether a server goes on.
PERHAPS_DELAYED = "perhaps delayed"
_DELAYED_WORDS = (
    r"différé|retardé|réessa|retrasad|demorad|atrasad|adiada|ritardat|ritardo|задерж|отложен"
    r"|verzögert|noch nicht|vertraagd|opóźni|försena|forsinke|viiväs|zpožděn|késik|gecik|затримк"
    r"|забав|все още не|ще не достав|καθυστέρη|întârzi|nu a fost încă|viibi|veel kohale|vėluoj"
    r"|zakasn|še ni|još nije|kasni|تأخ|لم يتم .{0,30}بعد|עיכוב|טרם נמסר|ล่าช้า|chậm|chưa được"
    r"|遅延|延迟|延遲|지연|ainda não|nog niet|jeszcze nie|ještě ne|még nem|尚未|아직|belum"
)
# What reports say that are only text: qmail, Exim, sendmail, Exchange, and those that follow them.
_SAYS_UNDELIVERED = re.compile(
    r"qmail-send program|undeliver|returned (?:mail|message|to sender)|returning (?:to sender|mess)"
    r"|failure notice|(?:mail|failed|failure|permanent) (?:delivery|failed|failure)"
    r"|delivery (?:status|failure|notification|has failed|failed|errors?)|unable to deliver"
    r"|(?:could not|couldn.t|cannot|can.t|was not|wasn.t) (?:be )?(?:delivered|sent)"
    r"|did not reach|could not send (?:mail|message)|permanent(?:ly)? (?:fatal )?(?:error|fail)"
    r"|(?:error|trouble) (?:sending|delivering) your|errors? from|failed addresses"
    r"|requested (?:mail )?action (?:not taken|aborted)"  # RFC 5321, 4.2.3
    r"|nicht zugestellt|unzustellbar|non remis|pas pu être (?:remis|distribué)|échec de la remise"
    r"|no se (?:ha podido|pudo) entregar|no entregado|mancat[oa] (?:recapito|consegna)"
    r"|non recapitat|falha na entrega|não (?:foi )?entregue|onbestelbaar|niet (?:af|be)geleverd"
    r"|inte levereras|ikke leveres|niedostarcz|nie (?:może|mogła) zostać dostarcz|не ?доставлен"
    r"|не (?:может быть|удалось) достав|退信|无法投递|投递失败|寄送失敗|エラー通知"
    r"|(?:配信|送信)できません|配信不能|无法送达|未送达|無法(?:傳遞|傳送)|배달되지|배달할 수 없"
    r"|nicht zustellbar|fehler bei der nachrichtenzustellung|n.a pu être (?:remis|distribué)"
    r"|non distribué|non (?:è stat[oa] )?consegnat|nie (?:dostarczono|doręczono)|nebylo možné"
    r"|nedoručen|olever(?:er)?bart|(?:전송|발송)되지 않았|(?:전송|발송) ?실패"
    r"|ei voi(?:da|tu)? toimittaa|går inte att leverera|nedoručiteln|nelze doručit|kézbesíthet"
    r"|nelivrabil|teslim edileme|impossibile recapitare|no se puede entregar"
    r"|αδύνατη η παράδοση|تعذر التسليم|לא ניתן למסירה",
    re.IGNORECASE,
)
# Others that say so, once it is certain that a text is a report.
_SAYS_FAILED = re.compile(
    r"reject|refus|discard|bounce|fail|no such|unknown user|does not exist|mailbox (?:is )?full"
    r"|abgelehnt|zurückgewiesen|fehlgeschlagen|unbekannt|échou|rejet|rechaza|fall(?:ó|ido)|rifiutat"
    r"|fallit|rejeitad|falhou|geweigerd|mislukt|avvisa|misslyck|avvist|mislyk|fejl|epäonnistu"
    r"|odrzucon|niepowodzeni|nie powiodło|odmítnut"
    r"|odmietnut|se(?:lhal| nezdař)|zlyhal|sikertelen|respins|eșuat"
    r"|nurjus|neizdev|nepavyk|nije (?:moguće|isporuč)|ni(?:so)? (?:bilo|mogoče|dostav)|неуспеш"
    r"|не ?удалось|не вдалося|отклон|відхил|не може|απέτυχ|αποτυχ|başar.s.z|iletilemedi|tókst ekki"
    r"|no s.ha pogut|ezin izan|non se puido|gagal|không thể|thất bại|ล้มเหลว|ไม่สามารถ|विफल|فشل|تعذ"
    r"|ناموفق|נכשל|נדח|失敗|失败|拒绝|拒絕|拒否|存在しな|不存在|실패|거부|não foi possível|não pôde"
    r"|kon(?:den)? niet|nie (?:można|udało|mógł)|못했|수 없|无法|無法|לא ניתן|nepod(?:ař|ar)ilo"
    r"|nemohl|nem (?:sikerült|lehet)|δεν (?:ήταν δυνατή|μπόρεσε|παραδόθηκε)|nu (?:a|s-a) putut"
    r"|tidak (?:dapat|bisa)|नहीं (?:किया|की|हो|पहुँच)|যা(?:য়|য়)নি|পারেনি|ব্যর্থ",
    re.IGNORECASE,
)
# Absent people write of delays too, but not of the delivery.
_SAYS_DELAYED = re.compile(
    r"has(?:n.t| not) (?:yet )?been delivered|delivery (?:is |has been )?(?:delayed|deferred)"
    rf"|has been delayed|delayed (?:mail|delivery|message)|message .{{0,40}}delayed"
    r"|noch nicht zugestellt|a été (?:différée?|retardée?)|se ha retrasado"
    r"|(?:zustell|bezorg|dostarcz|leveran|levering|doruč|kézbesít|entrega|consegna|remise|livraison"
    rf"|доставк|配信|邮件|郵件|배달).{{0,60}}(?:{_DELAYED_WORDS})",
    re.IGNORECASE,
)
# What a server says of later: `will be retried for two days before we give up`.
_LATER = re.compile(
    r"\b(?:will|.ll|then|before|until|if|eventually)(?: [\w'\u2019]+){0,5}?"
    r" (?:(?:giv(?:e|ing)|gave) up|expire[sd]?|fails permanently)",
    re.IGNORECASE,
)
# Words decide whether a server goes on trying; its code only says why the last attempt failed.
_GAVE_UP = re.compile(
    r"(?:giv(?:en|e|ing)|gave) up|not going to try|abandon|queue lifetime"
    r"|too long|expired|time-?out exceeded|permanent(?:ly)? (?:fatal )?(?:error|fail)"
    r"|(?:removed|deleted) from (?:the )?queue|delivery has timed out|wird gelöscht"
    r"|message .{0,40}a expiré|caducad"
    r"|scadut[oa]|verlopen|истек|expirou|過期|过期|期限切れ"
    r"|returned to sender|undeliverable|failure notice"
    r"|(?:no|not) (?:be )?(?:further|more|longer|retried)"
    r"|stopped trying|cannot send message (?:for|within) \d",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"delay|will (?:keep|continue|be|try|retry|attempt)|still (?:being )?(?:try|retr)"
    r"|could not send (?:mail|message) for|warning|not yet|no action (?:is )?(?:required|needed)"
    r"|temporarily deferred|retrying|need to resend|(?:continuar|tentar)(?:á|emos|ão)"
    r"|(?:zal|zullen|blij(?:f|ft|ven)) .{0,30}prober|spróbujemy|ponowi(?:my|one)|zkusíme|pokusíme"
    r"|próbálkoz(?:unk|ik)|megpróbál(?:juk|ja)"
    r"|다시 시도(?:합|할 것)|[将將会會](?:继续|繼續|再次|重新)"
    r"|ננסה|ימשיך|θα (?:συνεχί|προσπαθ)|vo?[am] (?:încerca|continua)|akan (?:terus )?mencoba"
    rf"|प्रयास (?:करते|जारी)|চেষ্টা (?:করা হবে|চলবে)|{_DELAYED_WORDS}",
    re.IGNORECASE,
)


def action_of(words: str, status: str) -> str:
    """Whether a server gave up or goes on: its words say so, if not its code, else nobody knows."""
    if _GAVE_UP.search(_LATER.sub("", words)):
        return "failed"
    if _GOES_ON.search(words):
        return "delayed"
    says = (_SAYS_UNDELIVERED,) if status.startswith("4") else (_SAYS_UNDELIVERED, _SAYS_FAILED)
    is_certain = status.startswith("5") or any(each.search(words) for each in says)
    return "failed" if is_certain else PERHAPS_DELAYED


def says_so(text: str) -> bool:
    """Whether a text says that a message was not delivered, or not yet."""
    return any(each.search(text) for each in (_SAYS_UNDELIVERED, _SAYS_DELAYED))
