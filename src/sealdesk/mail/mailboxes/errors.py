"""The error codes of mailboxes."""

from sealdesk.errors import ProblemType, gettext_noop

TOO_MANY_MAILBOXES = ProblemType(
    code="too_many_mailboxes",
    status=409,
    title="The tenant has the maximum number of mailboxes",
    message=gettext_noop(
        "There are %(limit)s mailboxes, as many as there may be. Delete one first."
    ),
    meaning="A tenant may have at most 20 mailboxes.",
    remedy="Delete a mailbox that is not used.",
    example={"limit": 20},
    members=("limit",),
)
MAILBOX_ADDRESS_TAKEN = ProblemType(
    code="mailbox_address_taken",
    status=409,
    title="The address is taken",
    message=gettext_noop(
        "A mailbox of this installation has or had %(address)s, or a form of it with a +."
    ),
    meaning="An address belongs to one mailbox of the whole installation, whatever its case. With"
    " all its forms with a + it belongs to one desk, also after its mailbox was deleted.",
    remedy="Choose another address. The desk that had the address can free it under Settings →"
    " E-mail.",
    example={"address": "sales@acme.test"},
)
CONSENT_UNKNOWN = ProblemType(
    code="consent_unknown",
    status=409,
    title="The consent was not asked for by this browser",
    message=gettext_noop(
        "This answer of a provider belongs to no mailbox that this browser connects, or it came"
        " after 10 minutes. Begin again on the page of the mailbox."
    ),
    meaning="A consent is taken in the session that asked for it, within 10 minutes, and once.",
    remedy="Connect the mailbox again, in one browser.",
)
CONSENT_NOT_GIVEN = ProblemType(
    code="consent_not_given",
    status=409,
    title="The provider gave no log-in for the mailbox",
    message=gettext_noop("%(provider)s gave no log-in: %(reason)s. Nothing was changed."),
    meaning="Somebody refused the consent, or the provider refuses the client of Sealdesk.",
    remedy="Connect the mailbox again and consent; an administrator of the account may have to.",
    example={"provider": "Google", "reason": "access_denied"},
)
CONSENT_OF_OTHER_ACCOUNT = ProblemType(
    code="consent_of_other_account",
    status=409,
    title="Another account has consented",
    message=gettext_noop(
        "%(account)s has consented, but the mailbox is %(address)s. Nothing was changed. Log in as"
        " %(address)s at the provider."
    ),
    meaning="The account that consents must be that of the mailbox.",
    remedy="Connect the mailbox again, and log in at the provider with its address.",
    example={"account": "eve@acme.test", "address": "support@acme.test"},
)
MAIL_DOMAIN_ASSIGNED = ProblemType(
    code="mail_domain_assigned",
    status=409,
    title="The domain is assigned",
    message=gettext_noop("The domain %(domain)s is assigned to another desk of this installation."),
    meaning="The operator or its DNS has assigned the domain of the address to another desk.",
    remedy="Choose an address in another domain, or ask the operator to assign or release it.",
    example={"domain": "acme.test"},
)
ADDRESS_UNVERIFIED = ProblemType(
    code="mailbox_address_unverified",
    status=409,
    title="The address is not verified",
    message=gettext_noop(
        "It is not yet verified that %(address)s is of this desk. Until then the mailbox receives"
        " and sends nothing."
    ),
    meaning="Where several desks share an installation, an address is verified to be a desk's: by"
    " its domain, by a code that is sent to it, or by the consent of its account (OAuth).",
    remedy="Have a code sent to the address and enter it, on the page of the mailbox; or connect it"
    " with OAuth; or ask the operator to assign the domain.",
    example={"address": "sales@acme.test"},
)
ADDRESS_CODE_NOT_SENT = ProblemType(
    code="address_code_not_sent",
    status=409,
    title="No code can be sent to the address",
    message=gettext_noop(
        "No code was sent to %(address)s. %(reason)s The operator of Sealdesk can assign the domain"
        " to this desk: sealdesk domains assign %(domain)s --tenant %(tenant_id)s"
    ),
    meaning="Codes are sent by the mailbox that the operator names in SEALDESK_MAIL_SENDER.",
    remedy="Ask the operator to assign the domain, or to name a mailbox that sends codes. The TXT"
    " record that the test of a mailbox names verifies the domain as well.",
    example={
        "address": "sales@acme.test",
        "reason": "This installation has no mailbox that sends codes.",
        "domain": "acme.test",
        "tenant_id": "0199b0d1-1f20-7a41-8b62-7c8d9e0f1a2b",
    },
)
ADDRESS_CODE_REFUSED = ProblemType(
    code="address_code_refused",
    status=409,
    title="The code does not verify the address",
    message=gettext_noop(
        "This is no code for %(address)s, or it was sent more than an hour ago. Copy it whole, or"
        " have another one sent."
    ),
    meaning="A code verifies the one address it was sent to, for the desk that asked, for an hour.",
    remedy="Copy the code from the newest message, or have another one sent.",
    example={"address": "sales@acme.test"},
)
TOO_MANY_ADDRESS_CODES = ProblemType(
    code="too_many_address_codes",
    status=429,
    title="Too many codes were sent or tried",
    message=gettext_noop(
        "Too many codes were sent or tried for this address. Try again in %(wait_s)s s."
    ),
    meaning="An address gets 3 codes in a day, a desk 20; 5 wrong ones are tried in an hour.",
    remedy="Wait for `Retry-After`, or ask the operator to assign the domain.",
    example={"wait_s": 3600},
    headers={"retry-after": "%(wait_s)s"},
)
TOO_MANY_MAILBOX_TESTS = ProblemType(
    code="too_many_mailbox_tests",
    status=429,
    title="The tenant has tested its mailboxes too often",
    message=gettext_noop("Mailboxes were tested too often. Try again in %(wait_s)s s."),
    meaning="A tenant may test its mailboxes 10 times in a minute.",
    remedy="Wait for `Retry-After`, then test again.",
    example={"wait_s": 6},
    headers={"retry-after": "%(wait_s)s"},
)
